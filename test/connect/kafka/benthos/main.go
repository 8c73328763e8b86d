// What rates.py puts beside gale in place of Redpanda Connect, whose own module is not open source: its engine, benthos, and an input as Redpanda Connect has it: franz-go,
// a group's member, batches, each acked before its offsets are marked to be committed. Reads so many messages, drops them, and ends.
//
// usage: benthos BROKER TOPIC GROUP COUNT
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/twmb/franz-go/pkg/kgo"
)

type input struct {
	client *kgo.Client
	left   int
}

func (in *input) Connect(context.Context) (err error) {
	in.client, err = kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.ConsumeTopics(os.Args[2]), kgo.ConsumerGroup(os.Args[3]), kgo.AutoCommitMarks(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	return err
}

func (in *input) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	if in.left <= 0 {
		return nil, nil, service.ErrEndOfInput
	}
	fetches := in.client.PollRecords(ctx, 1000)
	if err := fetches.Err(); err != nil {
		return nil, nil, err
	}
	records := fetches.Records()
	batch := make(service.MessageBatch, 0, len(records))
	for _, record := range records {
		message := service.NewMessage(record.Value)
		message.MetaSetMut("kafka_key", string(record.Key))
		message.MetaSetMut("kafka_topic", record.Topic)
		message.MetaSetMut("kafka_partition", int(record.Partition))
		message.MetaSetMut("kafka_offset", int(record.Offset))
		batch = append(batch, message)
	}
	in.left -= len(records)
	return batch, func(_ context.Context, err error) error {
		if err == nil {
			in.client.MarkCommitRecords(records...)
		}
		return nil
	}, nil
}

func (in *input) Close(ctx context.Context) error {
	err := in.client.CommitMarkedOffsets(ctx)
	in.client.Close()
	return err
}

func run() error {
	count, err := strconv.Atoi(os.Args[4])
	if err != nil {
		return err
	}
	spec := service.NewConfigSpec()
	err = service.RegisterBatchInput("franz", spec, func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return &input{left: count}, nil
	})
	if err != nil {
		return err
	}
	builder := service.NewStreamBuilder()
	if err := builder.SetYAML("input: {franz: {}}\noutput: {drop: {}}\nlogger: {level: ERROR}\n"); err != nil {
		return err
	}
	stream, err := builder.Build()
	if err != nil {
		return err
	}
	return stream.Run(context.Background())
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: benthos BROKER TOPIC GROUP COUNT")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
