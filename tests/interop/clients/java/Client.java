import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;

/**
 * The Java client, told on standard input what to do: see features/program.py for the commands and
 * the events.
 *
 * <p>The same source is compiled against 4.9.8 and 5.5.0. Arguments: the name server's address, a
 * name for this process. The environment may have credentials, ACCESS_KEY and SECRET_KEY.
 */
public class Client {
    private static final long ADMIN_MS = 5_000;
    private final Events events = new Events();
    private final String nameServer;
    private final String process;
    private final DefaultMQProducer producer;
    private final Transactions transactions;
    private final Map<String, DefaultMQPushConsumer> consumers = new HashMap<>();

    public static void main(String[] args) throws Exception {
        new Client(args[0], args[1]).obey();
        // Threads of the client would hold the process for a while.
        Runtime.getRuntime().halt(0);
    }

    private Client(String nameServer, String process) throws Exception {
        this.nameServer = nameServer;
        this.process = process;
        producer = startProducer(new DefaultMQProducer("interop-" + process, signing()), process);
        transactions = new Transactions(events, nameServer, process);
    }

    /** Signs requests with the credentials of the environment; null: there are none. */
    private static RPCHook signing() {
        String key = System.getenv("ACCESS_KEY");
        return key == null ? null
            : new AclClientRPCHook(new SessionCredentials(key, System.getenv("SECRET_KEY")));
    }

    private DefaultMQProducer startProducer(DefaultMQProducer made, String instance)
        throws Exception {
        made.setNamesrvAddr(nameServer);
        made.setInstanceName(instance);
        made.start();
        return made;
    }

    private void obey() throws Exception {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Command command = new Command(line);
            Map<String, Object> end = Events.event("done");
            try {
                obey(command);
            } catch (Exception error) {
                error.printStackTrace();
                end = Events.event("failed");
                end.put("error", error.toString());
            }
            end.put("id", command.text("id"));
            events.print(end);
        }
    }

    private void obey(Command command) throws Exception {
        switch (command.text("do")) {
            case "send": send(command); break;
            case "subscribe": subscribe(command); break;
            case "close": consumers.remove(command.text("consumer")).shutdown(); break;
            case "pull": pull(command); break;
            case "poll": poll(command); break;
            case "recall": recall(command); break;
            case "request": request(command); break;
            case "query-key": queryKey(command); break;
            case "query-id": queryId(command); break;
            case "remake": remake(command); break;
            default: throw new IllegalArgumentException("not offered: " + command.text("do"));
        }
    }

    private void send(Command command) throws Exception {
        String id = command.text("id");
        List<Message> messages = new ArrayList<>();
        for (String body : command.texts("body")) {
            messages.add(message(command, body));
        }
        switch (command.text("how")) {
            case "sync":
                for (Message message : messages) {
                    events.print(Told.sent(id, producer.send(message)));
                }
                break;
            case "async":
                sendTogether(id, messages, Integer.parseInt(command.text("window", "1000")));
                break;
            case "oneway":
                for (Message message : messages) {
                    producer.sendOneway(message);
                }
                break;
            case "batch":
                events.print(Told.sent(id, producer.send(messages)));
                break;
            case "ordered":
                for (Message message : messages) {
                    events.print(Told.sent(id, producer.send(message, (queues, sent, shard) ->
                        queues.get(Math.floorMod(shard.hashCode(), queues.size())),
                        command.text("shard"))));
                }
                break;
            case "transaction":
                for (Message message : messages) {
                    events.print(
                        Told.sent(id, transactions.send(command.text("group"), message)));
                }
                break;
            case "traced":
                sendTraced(command, messages);
                break;
            default:
                throw new IllegalArgumentException("not offered: " + command.text("how"));
        }
    }

    private void sendTraced(Command command, List<Message> messages) throws Exception {
        String group = command.text("group");
        DefaultMQProducer traced =
            startProducer(new DefaultMQProducer(group, true, null), process + "-" + group);
        try {
            for (Message message : messages) {
                events.print(Told.sent(command.text("id"), traced.send(message)));
            }
        } finally {
            // What was not reported yet is reported now.
            traced.shutdown();
        }
    }

    /** Asynchronously, as many in flight as the window allows. */
    private void sendTogether(String id, List<Message> messages, int window) throws Exception {
        Semaphore free = new Semaphore(window);
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        for (Message message : messages) {
            free.acquire();
            producer.send(message, new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    events.print(Told.sent(id, result));
                    free.release();
                }

                @Override
                public void onException(Throwable error) {
                    errors.add(error);
                    free.release();
                }
            });
        }
        free.acquire(window);
        if (!errors.isEmpty()) {
            throw new Exception(errors.get(0));
        }
    }

    private static Message message(Command command, String body) throws Exception {
        Message message =
            new Message(command.text("topic"), body.getBytes(StandardCharsets.UTF_8));
        if (command.has("tags")) {
            message.setTags(command.text("tags"));
        }
        if (command.has("keys")) {
            message.setKeys(command.text("keys"));
        }
        for (String name : List.of("colour", "outcome", "check")) {
            if (command.has(name)) {
                message.putUserProperty(name, command.text(name));
            }
        }
        if (command.has("level")) {
            message.setDelayTimeLevel(command.number("level"));
        }
        if (command.has("deliver")) {
            Newer.deliverAt(message, Long.parseLong(command.text("deliver")));
        }
        if (command.has("delay")) {
            Newer.delayFor(message, command.number("delay"));
        }
        if (command.has("priority")) {
            Newer.prioritise(message, command.number("priority"));
        }
        return message;
    }

    private void subscribe(Command command) throws Exception {
        String name = command.text("consumer");
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(
            command.text("group"), signing(), new AllocateMessageQueueAveragely(),
            command.has("traced"), null);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(process + "-" + name);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (command.has("retries")) {
            consumer.setMaxReconsumeTimes(command.number("retries"));
        }
        if (command.has("threads")) {
            consumer.setConsumeThreadMin(command.number("threads"));
            consumer.setConsumeThreadMax(command.number("threads"));
        }
        if (command.has("pop")) {
            Newer.letBrokerAssign(consumer, command.number("pop"));
        }
        if (command.text("model", "clustering").equals("broadcasting")) {
            // The enumeration lives in another package in each release, so it is not named.
            Class<?> models = consumer.getMessageModel().getDeclaringClass();
            for (Object model : models.getEnumConstants()) {
                if (model.toString().equals("BROADCASTING")) {
                    consumer.getClass().getMethod("setMessageModel", models).invoke(consumer, model);
                }
            }
        }
        if (command.has("sql")) {
            consumer.subscribe(command.text("topic"), MessageSelector.bySql(command.text("sql")));
        } else {
            consumer.subscribe(command.text("topic"), command.text("expression", "*"));
        }
        listen(consumer, command);
        consumer.start();
        consumers.put(name, consumer);
    }

    private void listen(DefaultMQPushConsumer consumer, Command command) {
        String name = command.text("consumer");
        boolean retries = command.text("verdict", "ok").equals("retry");
        if (command.text("mode", "concurrent").equals("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                received(name, messages);
                return retries ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
                    : ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                received(name, messages);
                if (command.has("reply")) {
                    reply(messages, command.text("reply"));
                }
                if (command.text("verdict", "ok").equals("none")) {
                    hang();
                }
                return retries ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                    : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
    }

    /** Until the process is killed: nobody hears what became of the messages. */
    private static void hang() {
        try {
            new Semaphore(0).acquire();
        } catch (InterruptedException end) {
            throw new IllegalStateException(end);
        }
    }

    /** To whoever asked: its words after ours. */
    private void reply(List<MessageExt> messages, String words) {
        for (MessageExt message : messages) {
            String said = words + new String(message.getBody(), StandardCharsets.UTF_8);
            try {
                producer.send(MessageUtil.createReplyMessage(
                    message, said.getBytes(StandardCharsets.UTF_8)));
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
    }

    private void received(String consumer, List<MessageExt> messages) {
        for (MessageExt message : messages) {
            Map<String, Object> event = Told.message("received", message);
            event.put("consumer", consumer);
            events.print(event);
        }
    }

    /** Everything that lies in the topic's queues, each read from its beginning. */
    private void pull(Command command) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(command.text("group"));
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(process + "-" + command.text("group"));
        consumer.start();
        try {
            Set<MessageQueue> queues = consumer.fetchSubscribeMessageQueues(command.text("topic"));
            for (MessageQueue queue : queues) {
                PullResult result;
                long offset = 0;
                do {
                    String expression = command.text("expression", "*");
                    result = consumer.pull(queue, expression, offset, 32);
                    offset = result.getNextBeginOffset();
                    if (result.getPullStatus() == PullStatus.FOUND) {
                        found(command, result.getMsgFoundList());
                    }
                } while (result.getPullStatus() != PullStatus.NO_NEW_MSG
                    && result.getPullStatus() != PullStatus.OFFSET_ILLEGAL);
            }
        } finally {
            consumer.shutdown();
        }
    }

    /** As a member of a group, until as many messages as were asked for have come. */
    private void poll(Command command) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(command.text("group"));
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(process + "-" + command.text("group"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(command.text("topic"), command.text("expression", "*"));
        consumer.start();
        try {
            int left = command.number("count");
            while (left > 0) {
                List<MessageExt> messages = consumer.poll(1000);
                found(command, messages);
                left -= messages.size();
            }
        } finally {
            consumer.shutdown();
        }
    }

    private void found(Command command, List<MessageExt> messages) {
        for (MessageExt message : messages) {
            Map<String, Object> event = Told.message("found", message);
            event.put("id", command.text("id"));
            events.print(event);
        }
    }

    private void recall(Command command) throws Exception {
        Map<String, Object> event = Events.event("recalled");
        event.put("id", command.text("id"));
        event.put("msgId", Newer.recall(producer, command.text("topic"), command.text("handle")));
        events.print(event);
    }

    private void request(Command command) throws Exception {
        for (String body : command.texts("body")) {
            Message reply = producer.request(message(command, body), command.number("wait"));
            Map<String, Object> event = Events.event("replied");
            event.put("id", command.text("id"));
            event.put("body", new String(reply.getBody(), StandardCharsets.UTF_8));
            events.print(event);
        }
    }

    private void queryKey(Command command) throws Exception {
        QueryResult result = producer.queryMessage(
            command.text("topic"), command.text("key"), 32, 0, System.currentTimeMillis() + 60_000);
        found(command, result.getMessageList());
    }

    /** What the admin client does: the same requests, by the same client, one after another. */
    private void remake(Command command) throws Exception {
        MQClientAPIImpl api =
            producer.getDefaultMQProducerImpl().getmQClientFactory().getMQClientAPIImpl();
        String topic = command.text("topic");
        String broker = command.text("broker");
        api.deleteTopicInBroker(broker, topic, ADMIN_MS);
        api.deleteTopicInNameServer(nameServer, command.text("cluster"), topic, ADMIN_MS);
        api.createTopic(broker, "TBW102", new TopicConfig(topic, 4, 4, 6), ADMIN_MS);
        for (String body : command.texts("body")) {
            // To a queue that is named: nothing is tried again.
            events.print(Told.sent(command.text("id"), producer.send(
                message(command, body), new MessageQueue(topic, command.text("name"), 0))));
        }
    }

    private void queryId(Command command) throws Exception {
        String wanted = command.text("wanted");
        found(command, List.of(producer.viewMessage(command.text("topic"), wanted)));
    }
}
