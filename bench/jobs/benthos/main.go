// Benthos (redpanda-data/benthos, the MIT-licensed core of Redpanda Connect) with the components that the jobs need.
package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() { service.RunCLI(context.Background()) }
