// The Go client of gRPC, told on standard input what to do: see features/program.py for the commands
// and the events. Arguments: the address of the server's gRPC, a name for this process.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	rmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/apache/rocketmq-clients/golang/v5/credentials"
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

const (
	await = 5 * time.Second
	batch = 16
)

type event map[string]any

var printing sync.Mutex

func (happened event) print() {
	line, err := json.Marshal(happened)
	if err != nil {
		panic(err)
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(line))
}

type stopping interface{ GracefulStop() error }

type client struct {
	address string
	// By topic.
	producers map[string]rmq.Producer
	consumers map[string]stopping
	// By id: messages of simple consumers.
	taken map[string]*rmq.MessageView
	asked sync.Map
}

func main() {
	rmq.EnableSsl = false
	rmq.ResetLogger()
	told := client{
		address:   os.Args[1],
		producers: map[string]rmq.Producer{},
		consumers: map[string]stopping{},
		taken:     map[string]*rmq.MessageView{},
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		command, err := url.ParseQuery(lines.Text())
		if err == nil {
			err = told.obey(command)
		}
		end := event{"event": "done", "id": command.Get("id")}
		if err != nil {
			end = event{"event": "failed", "id": command.Get("id"), "error": err.Error()}
		}
		end.print()
	}
}

func (c *client) obey(command url.Values) error {
	switch command.Get("do") {
	case "send":
		return c.send(command)
	case "recall":
		return c.recall(command)
	case "subscribe":
		return c.subscribe(command)
	case "open":
		return c.open(command)
	case "take":
		return c.take(command)
	case "ack":
		return c.each(command, func(by rmq.SimpleConsumer, message *rmq.MessageView) error {
			return by.Ack(context.Background(), message)
		})
	case "postpone":
		return c.each(command, func(by rmq.SimpleConsumer, message *rmq.MessageView) error {
			return by.ChangeInvisibleDuration(message, duration(command, "invisible"))
		})
	case "close":
		name := command.Get("consumer")
		defer delete(c.consumers, name)
		return c.consumers[name].GracefulStop()
	}
	return fmt.Errorf("not offered: %s", command.Get("do"))
}

func (c *client) config(group string) *rmq.Config {
	return &rmq.Config{
		Endpoint: c.address, ConsumerGroup: group, Credentials: &credentials.SessionCredentials{},
	}
}

func (c *client) producer(topic string) (rmq.Producer, error) {
	made, ok := c.producers[topic]
	if ok {
		return made, nil
	}
	checker := rmq.WithTransactionChecker(&rmq.TransactionChecker{Check: c.check})
	made, err := rmq.NewProducer(c.config(""), rmq.WithTopics(topic), checker)
	if err == nil {
		err = made.Start()
	}
	if err == nil {
		c.producers[topic] = made
	}
	return made, err
}

func (c *client) send(command url.Values) error {
	by, err := c.producer(command.Get("topic"))
	if err != nil {
		return err
	}
	if command.Get("how") == "async" {
		return sendTogether(by, command)
	}
	for _, body := range command["body"] {
		var receipts []*rmq.SendReceipt
		switch how := command.Get("how"); how {
		case "sync":
			receipts, err = by.Send(context.Background(), message(command, body))
		case "transaction":
			receipts, err = transact(by, message(command, body), command.Get("outcome"))
		default:
			err = fmt.Errorf("not offered: %s", how)
		}
		if err != nil {
			return err
		}
		sent(command, receipts)
	}
	return nil
}

// All in flight at once.
func sendTogether(by rmq.Producer, command url.Values) error {
	ends := make(chan error, len(command["body"]))
	for _, body := range command["body"] {
		answer := func(_ context.Context, receipts []*rmq.SendReceipt, err error) {
			if err == nil {
				sent(command, receipts)
			}
			ends <- err
		}
		by.SendAsync(context.Background(), message(command, body), answer)
	}
	for range command["body"] {
		if err := <-ends; err != nil {
			return err
		}
	}
	return nil
}

func transact(by rmq.Producer, message *rmq.Message, outcome string) ([]*rmq.SendReceipt, error) {
	begun := by.BeginTransaction()
	receipts, err := by.SendWithTransaction(context.Background(), message, begun)
	if err != nil {
		return nil, err
	}
	switch outcome {
	case "commit":
		err = begun.Commit()
	case "rollback":
		err = begun.RollBack()
	}
	return receipts, err
}

// A message says itself what is answered when the broker asks about its transaction: the words of
// its property `check` one after the other, the last one from then on.
func (c *client) check(message *rmq.MessageView) rmq.TransactionResolution {
	words := strings.Split(message.GetProperties()["check"], " ")
	before, _ := c.asked.LoadOrStore(message.GetMessageId(), 0)
	times := before.(int)
	c.asked.Store(message.GetMessageId(), times+1)
	word := words[min(times, len(words)-1)]
	asked := described("checked", message)
	asked["group"] = message.GetTopic()
	asked["answer"] = word
	asked.print()
	switch word {
	case "commit":
		return rmq.COMMIT
	case "rollback":
		return rmq.ROLLBACK
	}
	return rmq.UNKNOWN
}

func message(command url.Values, body string) *rmq.Message {
	made := &rmq.Message{Topic: command.Get("topic"), Body: []byte(body)}
	if command.Has("tags") {
		made.SetTag(command.Get("tags"))
	}
	if command.Has("keys") {
		made.SetKeys(strings.Split(command.Get("keys"), " ")...)
	}
	for _, name := range []string{"colour", "check"} {
		if command.Has(name) {
			made.AddProperty(name, command.Get(name))
		}
	}
	if command.Has("shard") {
		made.SetMessageGroup(command.Get("shard"))
	}
	if command.Has("deliver") {
		made.SetDelayTimestamp(time.UnixMilli(int64(number(command, "deliver"))))
	}
	return made
}

func number(command url.Values, name string) int {
	value, err := strconv.Atoi(command.Get(name))
	if err != nil {
		panic(err)
	}
	return value
}

func duration(command url.Values, name string) time.Duration {
	return time.Duration(number(command, name)) * time.Millisecond
}

func sent(command url.Values, receipts []*rmq.SendReceipt) {
	for _, receipt := range receipts {
		event{
			"event": "sent", "id": command.Get("id"), "msgId": receipt.MessageID,
			"recallHandle": receipt.RecallHandle,
		}.print()
	}
}

func (c *client) recall(command url.Values) error {
	by, err := c.producer(command.Get("topic"))
	if err != nil {
		return err
	}
	id, err := by.Recall(context.Background(), command.Get("topic"), command.Get("handle"))
	if err == nil {
		event{"event": "recalled", "id": command.Get("id"), "msgId": id}.print()
	}
	return err
}

func described(name string, message *rmq.MessageView) event {
	return event{
		"event": name, "topic": message.GetTopic(), "body": string(message.GetBody()),
		"tags": message.GetTag(), "keys": strings.Join(message.GetKeys(), " "),
		"colour": message.GetProperties()["colour"], "messageGroup": message.GetMessageGroup(),
		"msgId": message.GetMessageId(), "attempt": message.GetDeliveryAttempt(),
		"bornTimestamp": message.GetBornTimestamp().UnixMilli(), "time": time.Now().UnixMilli(),
	}
}

func subscription(command url.Values) map[string]*rmq.FilterExpression {
	expression := rmq.SUB_ALL
	if command.Has("sql") {
		expression = rmq.NewFilterExpressionWithType(command.Get("sql"), rmq.SQL92)
	} else if command.Has("expression") {
		expression = rmq.NewFilterExpression(command.Get("expression"))
	}
	return map[string]*rmq.FilterExpression{command.Get("topic"): expression}
}

func (c *client) subscribe(command url.Values) error {
	name := command.Get("consumer")
	consume := func(message *rmq.MessageView) rmq.ConsumerResult {
		received := described("received", message)
		received["consumer"] = name
		received.print()
		if command.Get("verdict") == "none" {
			select {}
		}
		if command.Has("hold") {
			time.Sleep(duration(command, "hold"))
		}
		if command.Get("verdict") == "retry" {
			return rmq.FAILURE
		}
		return rmq.SUCCESS
	}
	made, err := rmq.NewPushConsumer(
		c.config(command.Get("group")),
		rmq.WithPushAwaitDuration(await),
		rmq.WithPushSubscriptionExpressions(subscription(command)),
		rmq.WithPushMessageListener(&rmq.FuncMessageListener{Consume: consume}),
	)
	if err == nil {
		c.consumers[name] = made
		err = made.Start()
	}
	return err
}

func (c *client) open(command url.Values) error {
	made, err := rmq.NewSimpleConsumer(
		c.config(command.Get("group")),
		rmq.WithSimpleAwaitDuration(await),
		rmq.WithSimpleSubscriptionExpressions(subscription(command)),
	)
	if err == nil {
		c.consumers[command.Get("consumer")] = made
		err = made.Start()
	}
	return err
}

func (c *client) simple(command url.Values) rmq.SimpleConsumer {
	return c.consumers[command.Get("consumer")].(rmq.SimpleConsumer)
}

func (c *client) take(command url.Values) error {
	end := time.Now().Add(duration(command, "wait"))
	for left := number(command, "count"); left > 0 && time.Now().Before(end); {
		messages, err := c.simple(command).Receive(
			context.Background(), int32(min(left, batch)), duration(command, "invisible"),
		)
		// To this client, nothing new is an error.
		status, ok := rmq.AsErrRpcStatus(err)
		if err != nil && !(ok && status.GetCode() == int32(v2.Code_MESSAGE_NOT_FOUND)) {
			return err
		}
		left -= len(messages)
		for _, message := range messages {
			c.taken[message.GetMessageId()] = message
			found := described("found", message)
			found["id"] = command.Get("id")
			found.print()
		}
	}
	return nil
}

func (c *client) each(
	command url.Values, do func(rmq.SimpleConsumer, *rmq.MessageView) error,
) error {
	for _, wanted := range command["wanted"] {
		if err := do(c.simple(command), c.taken[wanted]); err != nil {
			return err
		}
	}
	return nil
}
