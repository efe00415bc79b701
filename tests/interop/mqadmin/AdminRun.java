import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.namesrv.NamesrvStartup;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * mqadmin, one command after the other in one JVM, with a producer and a consumer that it can show.
 *
 * <p>Arguments: the name server's address; then, for Apache's own servers in this JVM as well, the
 * files of the name server's and of the broker's settings. Each line of standard input is one step,
 * and is answered by one line:
 *
 * <pre>
 * {"do":"run","arguments":["topicList","-n","…"],"ms":30000}   → {"text":…,"ended":true}
 * {"do":"produce","group":G,"topic":T,"key":K,"tag":A}          → {"made":…}
 * {"do":"consume","group":G,"topic":T}                          → {"client":…}
 * {"do":"leave"}                                                → {}
 * </pre>
 *
 * <p>`text` is all that the command has printed, to either stream; `ended` is false if it still runs.
 */
public class AdminRun {
    private final String nameServer;
    private DefaultMQProducer producer;
    private DefaultMQPushConsumer consumer;

    private AdminRun(String nameServer) {
        this.nameServer = nameServer;
    }

    public static void main(String[] args) {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // Logs and servers may not get between the answers.
        System.setOut(System.err);
        PrintStream errors = System.err;
        try {
            if (args.length > 1) {
                NamesrvStartup.main0(new String[] {"-c", args[1]});
                BrokerStartup.start(BrokerStartup.createBrokerController(new String[] {"-c", args[2]}));
            }
            answers.println("{\"ready\":true}");
            AdminRun run = new AdminRun(args[0]);
            BufferedReader steps =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = steps.readLine(); line != null; line = steps.readLine()) {
                answers.println(JSON.toJSONString(run.answer(JSON.parseObject(line))));
            }
        } catch (Throwable error) {
            error.printStackTrace(errors);
            Runtime.getRuntime().halt(1);
        }
        // Clients and servers have threads that would go on.
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> answer(JSONObject step) throws Exception {
        switch (step.getString("do")) {
            case "run":
                return run(
                    step.getJSONArray("arguments").toList(String.class), step.getLongValue("ms"));
            case "produce":
                return produce(step);
            case "consume":
                return consume(step.getString("group"), step.getString("topic"));
            case "leave":
                consumer.shutdown();
                return new LinkedHashMap<>();
            default:
                throw new IllegalArgumentException(step.toString());
        }
    }

    private Map<String, Object> run(List<String> arguments, long ms) throws Exception {
        forgetCommands();
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrintStream out = System.out;
        PrintStream err = System.err;
        PrintStream printed = new PrintStream(text, true, StandardCharsets.UTF_8);
        System.setOut(printed);
        System.setErr(printed);
        Thread command = new Thread(
            () -> MQAdminStartup.main0(arguments.toArray(new String[0]), null), "mqadmin");
        command.setDaemon(true);
        command.start();
        command.join(ms);
        System.setOut(out);
        System.setErr(err);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("text", text.toString(StandardCharsets.UTF_8));
        answer.put("ended", !command.isAlive());
        return answer;
    }

    /** Some commands keep a client that they shut down: each run gets new ones. */
    private static void forgetCommands() throws IllegalAccessException {
        for (Field field : MQAdminStartup.class.getDeclaredFields()) {
            if (List.class.isAssignableFrom(field.getType())) {
                field.setAccessible(true);
                ((List<?>) field.get(null)).clear();
            }
        }
    }

    private Map<String, Object> produce(JSONObject step) throws Exception {
        if (producer == null) {
            producer = new DefaultMQProducer(step.getString("group"));
            producer.setNamesrvAddr(nameServer);
            producer.setClientIP("127.0.0.1");
            producer.setInstanceName(step.getString("group"));
            producer.start();
        }
        Message message = new Message(
            step.getString("topic"),
            step.getString("tag"),
            step.getString("key"),
            "produced".getBytes(StandardCharsets.UTF_8));
        SendResult result = producer.send(message);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("made", result.getMsgId());
        return answer;
    }

    private Map<String, Object> consume(String group, String topic) throws Exception {
        consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName(group);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPersistConsumerOffsetInterval(1000);
        consumer.setHeartbeatBrokerInterval(5000);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(
            (MessageListenerConcurrently)
                (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        consumer.start();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("client", "127.0.0.1@" + group);
        return answer;
    }
}
