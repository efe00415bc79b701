import java.io.BufferedReader;
import java.io.Closeable;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.FilterExpressionType;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.SendReceipt;

/**
 * The Java client of gRPC, told on standard input what to do: see features/program.py for the
 * commands and the events.
 *
 * <p>Arguments: the address of the server's gRPC, a name for this process.
 */
public class Client {
    private static final Duration REQUEST = Duration.ofSeconds(10);
    private static final Duration AWAIT = Duration.ofSeconds(5);
    private static final int BATCH = 16;
    private final Events events = new Events();
    private final ClientServiceProvider provider = ClientServiceProvider.loadService();
    private final ClientConfiguration configuration;
    private final Producers producers;
    private final Map<String, Closeable> consumers = new HashMap<>();
    private final Map<String, MessageView> taken = new HashMap<>();

    public static void main(String[] args) throws Exception {
        new Client(args[0]).obey();
        // Threads of the client would hold the process for a while.
        Runtime.getRuntime().halt(0);
    }

    private Client(String address) {
        configuration = ClientConfiguration.newBuilder()
            .setEndpoints(address).enableSsl(false).setRequestTimeout(REQUEST).build();
        producers = new Producers(events, provider, configuration);
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
            case "recall": recall(command); break;
            case "subscribe": subscribe(command); break;
            case "open": open(command); break;
            case "take": take(command); break;
            case "ack": ack(command); break;
            case "postpone": postpone(command); break;
            case "close": consumers.remove(command.text("consumer")).close(); break;
            default: throw new IllegalArgumentException("not offered: " + command.text("do"));
        }
    }

    private void send(Command command) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (String body : command.texts("body")) {
            messages.add(message(command, body));
        }
        switch (command.text("how")) {
            case "sync":
                for (Message message : messages) {
                    sent(command, producers.of(message.getTopic()).send(message));
                }
                break;
            case "async":
                List<CompletableFuture<SendReceipt>> ends = new ArrayList<>();
                for (Message message : messages) {
                    ends.add(producers.of(message.getTopic()).sendAsync(message));
                }
                for (CompletableFuture<SendReceipt> end : ends) {
                    sent(command, end.get());
                }
                break;
            case "transaction":
                for (Message message : messages) {
                    sent(command, producers.transact(message, command.text("outcome")));
                }
                break;
            default:
                throw new IllegalArgumentException("not offered: " + command.text("how"));
        }
    }

    private Message message(Command command, String body) {
        MessageBuilder message = provider.newMessageBuilder()
            .setTopic(command.text("topic"))
            .setBody(body.getBytes(StandardCharsets.UTF_8));
        if (command.has("tags")) {
            message.setTag(command.text("tags"));
        }
        if (command.has("keys")) {
            message.setKeys(command.text("keys").split(" "));
        }
        for (String name : List.of("colour", "check")) {
            if (command.has(name)) {
                message.addProperty(name, command.text(name));
            }
        }
        if (command.has("shard")) {
            message.setMessageGroup(command.text("shard"));
        }
        if (command.has("deliver")) {
            message.setDeliveryTimestamp(Long.parseLong(command.text("deliver")));
        }
        return message.build();
    }

    private void sent(Command command, SendReceipt receipt) {
        Map<String, Object> event = Events.event("sent");
        event.put("id", command.text("id"));
        event.put("msgId", receipt.getMessageId());
        event.put("recallHandle", receipt.getRecallHandle());
        events.print(event);
    }

    private void recall(Command command) throws Exception {
        String topic = command.text("topic");
        Map<String, Object> event = Events.event("recalled");
        event.put("id", command.text("id"));
        event.put("msgId",
            producers.of(topic).recallMessage(topic, command.text("handle")).getMessageId());
        events.print(event);
    }

    private static Map<String, FilterExpression> subscription(Command command) {
        FilterExpression expression = command.has("sql")
            ? new FilterExpression(command.text("sql"), FilterExpressionType.SQL92)
            : new FilterExpression(command.text("expression", "*"));
        return Map.of(command.text("topic"), expression);
    }

    private void subscribe(Command command) throws Exception {
        String name = command.text("consumer");
        String verdict = command.text("verdict", "ok");
        consumers.put(name, provider.newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(command.text("group"))
            .setSubscriptionExpressions(subscription(command))
            .setMessageListener(message -> {
                Map<String, Object> event = Told.message("received", message);
                event.put("consumer", name);
                events.print(event);
                if (verdict.equals("none")) {
                    wait(Duration.ofDays(1));
                }
                wait(Duration.ofMillis(Long.parseLong(command.text("hold", "0"))));
                return verdict.equals("retry") ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
            })
            .build());
    }

    private static void wait(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException end) {
            throw new IllegalStateException(end);
        }
    }

    private void open(Command command) throws Exception {
        consumers.put(command.text("consumer"), provider.newSimpleConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(command.text("group"))
            .setSubscriptionExpressions(subscription(command))
            .setAwaitDuration(AWAIT)
            .build());
    }

    private SimpleConsumer simple(Command command) {
        return (SimpleConsumer) consumers.get(command.text("consumer"));
    }

    private void take(Command command) throws Exception {
        Duration invisible = Duration.ofMillis(command.number("invisible"));
        long end = System.currentTimeMillis() + command.number("wait");
        int left = command.number("count");
        while (left > 0 && System.currentTimeMillis() < end) {
            List<MessageView> found =
                simple(command).receive(Math.min(left, BATCH), invisible);
            left -= found.size();
            for (MessageView message : found) {
                taken.put(message.getMessageId().toString(), message);
                Map<String, Object> event = Told.message("found", message);
                event.put("id", command.text("id"));
                events.print(event);
            }
        }
    }

    private void ack(Command command) throws Exception {
        for (String wanted : command.texts("wanted")) {
            simple(command).ack(taken.get(wanted));
        }
    }

    private void postpone(Command command) throws Exception {
        Duration invisible = Duration.ofMillis(command.number("invisible"));
        for (String wanted : command.texts("wanted")) {
            simple(command).changeInvisibleDuration(taken.get(wanted), invisible);
        }
    }
}
