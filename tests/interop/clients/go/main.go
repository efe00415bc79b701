// The Go client, told on standard input what to do: see features/program.py for the commands and
// the events. Arguments: the name server's address, a name for this process. The environment may
// have credentials, ACCESS_KEY and SECRET_KEY.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/admin"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
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

type client struct {
	nameServer primitive.NamesrvAddr
	process    string
	// One producer spreads messages over the queues, the other lets their key choose.
	spreading rocketmq.Producer
	choosing  rocketmq.Producer
	consumers map[string]rocketmq.PushConsumer
	// By group.
	transacting map[string]rocketmq.TransactionProducer
}

func main() {
	rlog.SetLogLevel("warn")
	told := client{
		nameServer:  primitive.NamesrvAddr{os.Args[1]},
		process:     os.Args[2],
		consumers:   map[string]rocketmq.PushConsumer{},
		transacting: map[string]rocketmq.TransactionProducer{},
	}
	told.spreading = told.newProducer("spread", producer.NewRoundRobinQueueSelector())
	told.choosing = told.newProducer("choose", producer.NewHashQueueSelector())
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
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

// Empty ones sign nothing.
func credentials() primitive.Credentials {
	return primitive.Credentials{
		AccessKey: os.Getenv("ACCESS_KEY"), SecretKey: os.Getenv("SECRET_KEY"),
	}
}

func (c *client) newProducer(
	name string, selector producer.QueueSelector, more ...producer.Option,
) rocketmq.Producer {
	options := []producer.Option{
		producer.WithNameServer(c.nameServer),
		producer.WithGroupName("interop-" + c.process + "-" + name),
		producer.WithInstanceName(c.process + "-" + name),
		producer.WithQueueSelector(selector),
		producer.WithRetry(2),
		producer.WithCredentials(credentials()),
	}
	made, err := rocketmq.NewProducer(append(options, more...)...)
	if err == nil {
		err = made.Start()
	}
	if err != nil {
		panic(err)
	}
	return made
}

func (c *client) obey(command url.Values) error {
	switch command.Get("do") {
	case "send":
		return c.send(command)
	case "subscribe":
		return c.subscribe(command)
	case "close":
		name := command.Get("consumer")
		defer delete(c.consumers, name)
		return c.consumers[name].Shutdown()
	case "pull":
		return c.pull(command)
	case "poll":
		return c.poll(command)
	case "request":
		return c.request(command)
	}
	return fmt.Errorf("not offered: %s", command.Get("do"))
}

func (c *client) send(command url.Values) error {
	messages := []*primitive.Message{}
	for _, body := range command["body"] {
		messages = append(messages, message(command, body))
	}
	switch how := command.Get("how"); how {
	case "sync":
		return sendEach(c.spreading, command, messages)
	case "ordered":
		return sendEach(c.choosing, command, messages)
	case "async":
		return c.sendTogether(command, messages)
	case "oneway":
		for _, message := range messages {
			if err := c.spreading.SendOneWay(context.Background(), message); err != nil {
				return err
			}
		}
		return nil
	case "batch":
		result, err := c.spreading.SendSync(context.Background(), messages...)
		if err == nil {
			sent(command, result).print()
		}
		return err
	case "transaction":
		return c.sendInTransactions(command, messages)
	case "traced":
		return c.sendTraced(command, messages)
	default:
		return fmt.Errorf("not offered: %s", how)
	}
}

func (c *client) tracing() *primitive.TraceConfig {
	return &primitive.TraceConfig{
		Access:   primitive.Local,
		Resolver: primitive.NewPassthroughResolver(c.nameServer),
	}
}

func (c *client) sendTraced(command url.Values, messages []*primitive.Message) error {
	traced := c.newProducer(
		command.Get("group"), producer.NewRoundRobinQueueSelector(), producer.WithTrace(c.tracing()),
	)
	return sendEach(traced, command, messages)
}

func (c *client) request(command url.Values) error {
	wait := time.Duration(number(command, "wait")) * time.Millisecond
	// A new one says hello to brokers in a second; one that has no topics yet, within 30.
	asking := c.newProducer("request", producer.NewRoundRobinQueueSelector())
	for _, body := range command["body"] {
		reply, err := asking.Request(context.Background(), wait, message(command, body))
		if err != nil {
			return err
		}
		replied := event{"event": "replied", "id": command.Get("id"), "body": string(reply.Body)}
		replied.print()
	}
	return nil
}

func sendEach(by rocketmq.Producer, command url.Values, messages []*primitive.Message) error {
	for _, message := range messages {
		result, err := by.SendSync(context.Background(), message)
		if err != nil {
			return err
		}
		sent(command, result).print()
	}
	return nil
}

// All in flight at once.
func (c *client) sendTogether(command url.Values, messages []*primitive.Message) error {
	ends := make(chan error, len(messages))
	for _, message := range messages {
		answer := func(_ context.Context, result *primitive.SendResult, err error) {
			if err == nil {
				sent(command, result).print()
			}
			ends <- err
		}
		if err := c.spreading.SendAsync(context.Background(), answer, message); err != nil {
			return err
		}
	}
	for range messages {
		if err := <-ends; err != nil {
			return err
		}
	}
	return nil
}

func message(command url.Values, body string) *primitive.Message {
	made := primitive.NewMessage(command.Get("topic"), []byte(body))
	if command.Has("tags") {
		made.WithTag(command.Get("tags"))
	}
	if command.Has("keys") {
		made.WithKeys([]string{command.Get("keys")})
	}
	for _, name := range []string{"colour", "outcome", "check"} {
		if command.Has(name) {
			made.WithProperty(name, command.Get(name))
		}
	}
	if command.Has("shard") {
		made.WithShardingKey(command.Get("shard"))
	}
	if command.Has("level") {
		made.WithDelayTimeLevel(number(command, "level"))
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

func sent(command url.Values, result *primitive.SendResult) event {
	status := "SEND_OK"
	if result.Status != primitive.SendOK {
		status = fmt.Sprint(result.Status)
	}
	return event{
		"event": "sent", "id": command.Get("id"), "status": status, "msgId": result.MsgID,
		"offsetMsgId": result.OffsetMsgID, "queueId": result.MessageQueue.QueueId,
		"queueOffset": result.QueueOffset,
	}
}

func described(name string, message *primitive.MessageExt) event {
	return event{
		"event": name, "topic": message.Topic, "body": string(message.Body),
		"tags": message.GetTags(), "keys": message.GetKeys(),
		"colour": message.GetProperty("colour"), "queueId": message.Queue.QueueId,
		"queueOffset": message.QueueOffset, "reconsumeTimes": message.ReconsumeTimes,
		"bornTimestamp": message.BornTimestamp, "storeTimestamp": message.StoreTimestamp,
		"time": time.Now().UnixMilli(),
	}
}

func (c *client) options(group, instance string) []consumer.Option {
	return []consumer.Option{
		consumer.WithNameServer(c.nameServer),
		consumer.WithGroupName(group),
		consumer.WithInstance(c.process + "-" + instance),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithCredentials(credentials()),
	}
}

func selector(command url.Values) consumer.MessageSelector {
	if command.Has("sql") {
		return consumer.MessageSelector{Type: consumer.SQL92, Expression: command.Get("sql")}
	}
	if !command.Has("expression") {
		return consumer.MessageSelector{}
	}
	return consumer.MessageSelector{Type: consumer.TAG, Expression: command.Get("expression")}
}

func (c *client) subscribe(command url.Values) error {
	name := command.Get("consumer")
	options := c.options(command.Get("group"), name)
	isOrderly := command.Get("mode") == "orderly"
	options = append(options, consumer.WithConsumerOrder(isOrderly))
	if command.Get("model") == "broadcasting" {
		options = append(options, consumer.WithConsumerModel(consumer.BroadCasting))
	}
	if command.Has("retries") {
		retries := int32(number(command, "retries"))
		options = append(options, consumer.WithMaxReconsumeTimes(retries))
	}
	if command.Has("traced") {
		options = append(options, consumer.WithTrace(c.tracing()))
	}
	verdict := consumer.ConsumeSuccess
	if command.Get("verdict") == "retry" {
		verdict = consumer.ConsumeRetryLater
		if isOrderly {
			verdict = consumer.SuspendCurrentQueueAMoment
		}
	}
	made, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return err
	}
	receive := func(_ context.Context, messages ...*primitive.MessageExt) (
		consumer.ConsumeResult, error,
	) {
		for _, message := range messages {
			received := described("received", message)
			received["consumer"] = name
			received.print()
			if command.Has("reply") {
				if err := c.reply(message, command.Get("reply")); err != nil {
					return consumer.ConsumeRetryLater, err
				}
			}
		}
		return verdict, nil
	}
	if err := made.Subscribe(command.Get("topic"), selector(command), receive); err != nil {
		return err
	}
	c.consumers[name] = made
	return made.Start()
}

// To whoever asked: its words after ours.
func (c *client) reply(asked *primitive.MessageExt, words string) error {
	// The words go in by hand: the call takes them for properties.
	made, err := consumer.CreateReplyMessage(asked, nil)
	if err != nil {
		return err
	}
	made.Body = []byte(words + string(asked.Body))
	// Brokers may not know yet who asked: this client does not say hello before it asks.
	for left := 30; ; left-- {
		_, err = c.choosing.SendSync(context.Background(), made)
		if err == nil || left == 0 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func found(command url.Values, messages []*primitive.MessageExt) {
	for _, message := range messages {
		happened := described("found", message)
		happened["id"] = command.Get("id")
		happened.print()
	}
}

func (c *client) startPullConsumer(command url.Values) (rocketmq.PullConsumer, error) {
	group := command.Get("group")
	made, err := rocketmq.NewPullConsumer(c.options(group, group)...)
	if err != nil {
		return nil, err
	}
	if err := made.Subscribe(command.Get("topic"), selector(command)); err != nil {
		return nil, err
	}
	return made, made.Start()
}

// Everything that lies in the topic's queues, each read from its beginning.
func (c *client) pull(command url.Values) error {
	asking, err := admin.NewAdmin(admin.WithResolver(primitive.NewPassthroughResolver(c.nameServer)))
	if err != nil {
		return err
	}
	queues, err := asking.FetchPublishMessageQueues(context.Background(), command.Get("topic"))
	if err != nil {
		return err
	}
	pulling, err := c.startPullConsumer(command)
	if err != nil {
		return err
	}
	defer pulling.Shutdown()
	for _, queue := range queues {
		for offset := int64(0); ; {
			result, err := pulling.PullFrom(context.Background(), queue, offset, 32)
			if err != nil {
				return err
			}
			found(command, result.GetMessageExts())
			offset = result.NextBeginOffset
			// A pull at the end would be held until the client gives it up.
			if result.Status != primitive.PullFound || offset >= result.MaxOffset {
				break
			}
		}
	}
	return nil
}

// As a member of a group, until as many messages as were asked for have come.
func (c *client) poll(command url.Values) error {
	polling, err := c.startPullConsumer(command)
	if err != nil {
		return err
	}
	defer polling.Shutdown()
	for left := number(command, "count"); left > 0; {
		request, err := polling.Poll(context.Background(), time.Second)
		if consumer.IsNoNewMsgError(err) {
			continue
		}
		if err != nil {
			return err
		}
		found(command, request.GetMsgList())
		left -= len(request.GetMsgList())
		polling.ACK(context.Background(), request, consumer.ConsumeSuccess)
	}
	return nil
}
