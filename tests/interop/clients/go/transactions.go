package main

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// Says what becomes of a group's transactions. A message brings it along: its property `outcome`
// at once, the words of its property `check` one after the other when the broker asks, the last
// one from then on.
type decider struct {
	group string
	lock  sync.Mutex
	asked map[string]int
}

func state(word string) primitive.LocalTransactionState {
	switch word {
	case "commit":
		return primitive.CommitMessageState
	case "rollback":
		return primitive.RollbackMessageState
	}
	return primitive.UnknowState
}

func (d *decider) ExecuteLocalTransaction(
	message *primitive.Message,
) primitive.LocalTransactionState {
	return state(message.GetProperty("outcome"))
}

func (d *decider) CheckLocalTransaction(
	message *primitive.MessageExt,
) primitive.LocalTransactionState {
	d.lock.Lock()
	defer d.lock.Unlock()
	id := message.TransactionId
	words := strings.Fields(message.GetProperty("check"))
	if d.asked[id] < len(words) {
		d.asked[id]++
	}
	word := words[d.asked[id]-1]
	checked := event{
		"event": "checked", "topic": message.Topic, "body": string(message.Body),
		"group": d.group, "answer": word,
	}
	checked.print()
	return state(word)
}

func (c *client) sendInTransactions(command url.Values, messages []*primitive.Message) error {
	by, err := c.transactionProducer(command.Get("group"))
	if err != nil {
		return err
	}
	for _, message := range messages {
		result, err := by.SendMessageInTransaction(context.Background(), message)
		if err != nil {
			return err
		}
		sent(command, result.SendResult).print()
	}
	return nil
}

func (c *client) transactionProducer(group string) (rocketmq.TransactionProducer, error) {
	if made, exists := c.transacting[group]; exists {
		return made, nil
	}
	made, err := rocketmq.NewTransactionProducer(
		&decider{group: group, asked: map[string]int{}},
		producer.WithNameServer(c.nameServer),
		producer.WithGroupName(group),
		producer.WithInstanceName(c.process+"-"+group),
		producer.WithRetry(2),
	)
	if err != nil {
		return nil, err
	}
	c.transacting[group] = made
	return made, made.Start()
}
