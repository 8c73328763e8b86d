// What rates.py puts beside gale in place of Redpanda Connect, whose own module is not open source: benthos, its predecessor, the last of its releases under MIT that had the
// components of all systems. Runs a file of its configuration.
//
// usage: peer -c FILE
package main

import (
	"context"

	_ "github.com/benthosdev/benthos/v4/public/components/amqp09"
	_ "github.com/benthosdev/benthos/v4/public/components/io"
	_ "github.com/benthosdev/benthos/v4/public/components/mqtt"
	_ "github.com/benthosdev/benthos/v4/public/components/nats"
	_ "github.com/benthosdev/benthos/v4/public/components/pure"
	_ "github.com/benthosdev/benthos/v4/public/components/redis"
	"github.com/benthosdev/benthos/v4/public/service"
)

func main() { service.RunCLI(context.Background()) }
