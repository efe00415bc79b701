import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.BoundaryType;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What a broker answers to the Java client, as JSON lines.
 *
 * <p>Argument: the broker's address. Each line of standard input is one question; each answer
 * is one line, and lines of a dump end with one that says how many there were:
 *
 * <pre>
 * {"ask":"dump","topic":T,"queueId":Q}                        min and max offset, then every message
 * {"ask":"key","topic":T,"key":K,"max":N,"begin":ms,"end":ms} offset ids found by a key
 * {"ask":"tag","topic":T,"tag":K,"max":N,"begin":ms,"end":ms} offset ids found by a tag
 * {"ask":"unique","topic":T,"key":K}                          the message with this unique id
 * {"ask":"offset","topic":T,"offset":n}                       the message at this log offset
 * {"ask":"time","topic":T,"queueId":Q,"time":ms,"upper":bool} queue offset for a time
 * </pre>
 */
public class StoreDump {
    private static final int MESSAGES_PER_PULL = 32;
    private static final long MILLISECONDS_MAX = 10_000;

    private final DefaultMQPullConsumer consumer;
    private final MQClientInstance client;
    private final MQAdminImpl admin;
    private final String address;
    private final PrintStream out;

    private StoreDump(String address, PrintStream out) throws MQClientException {
        this.address = address;
        this.out = out;
        consumer = new DefaultMQPullConsumer("interop-dump");
        // Never asked, but a client does not start without one.
        consumer.setNamesrvAddr(address);
        consumer.setInstanceName("interop-dump");
        consumer.setVipChannelEnabled(false);
        consumer.start();
        client = consumer.getDefaultMQPullConsumerImpl().getRebalanceImpl().getmQClientFactory();
        admin = client.getMQAdminImpl();
    }

    public static void main(String[] args) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The client's log may not get between the answers.
        System.setOut(System.err);
        try {
            StoreDump dump = new StoreDump(args[0], out);
            BufferedReader questions =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = questions.readLine(); line != null; line = questions.readLine()) {
                dump.answer(JSON.parseObject(line));
            }
        } catch (Exception error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        // Threads of the client would hold the process for a while.
        Runtime.getRuntime().halt(0);
    }

    private void answer(JSONObject question) throws Exception {
        String topic = question.getString("topic");
        Direct.teach(client, address, topic);
        switch (question.getString("ask")) {
            case "dump":
                dumpQueue(queue(question));
                break;
            case "key":
                print(Map.of("ids", offsetIds(question, topic, question.getString("key"), null)));
                break;
            case "tag":
                print(Map.of("ids", offsetIds(question, topic, question.getString("tag"),
                    MessageConst.INDEX_TAG_TYPE)));
                break;
            case "unique":
                // Not the variant without times: that one guesses them from the unique id.
                print(found(() -> admin.queryMessageByUniqKey(topic, question.getString("key"), 1,
                    0, Long.MAX_VALUE).getMessageList().get(0)));
                break;
            case "offset":
                print(found(() -> client.getMQClientAPIImpl().viewMessage(address, topic,
                    question.getLongValue("offset"), MILLISECONDS_MAX)));
                break;
            case "time":
                BoundaryType boundary =
                    question.getBooleanValue("upper") ? BoundaryType.UPPER : BoundaryType.LOWER;
                long offset =
                    admin.searchOffset(queue(question), question.getLongValue("time"), boundary);
                print(Map.of("offset", offset));
                break;
            default:
                throw new IllegalArgumentException("unknown question " + question);
        }
    }

    private static MessageQueue queue(JSONObject question) {
        return new MessageQueue(question.getString("topic"), Direct.BROKER,
            question.getIntValue("queueId"));
    }

    private void dumpQueue(MessageQueue queue) throws Exception {
        long end = consumer.maxOffset(queue);
        long start = consumer.minOffset(queue);
        long count = 0;
        for (long offset = start; offset < end; ) {
            PullResult result = consumer.pull(queue, "*", offset, MESSAGES_PER_PULL);
            if (result.getPullStatus() == PullStatus.FOUND) {
                for (MessageExt message : result.getMsgFoundList()) {
                    print(describe(message));
                    count++;
                }
            }
            if (result.getNextBeginOffset() <= offset) {
                throw new IllegalStateException("no way past " + offset + " of " + queue
                    + ": " + result.getPullStatus());
            }
            offset = result.getNextBeginOffset();
        }
        print(new LinkedHashMap<>(Map.of("minOffset", start, "maxOffset", end, "count", count)));
    }

    private List<String> offsetIds(JSONObject question, String topic, String key, String type)
        throws Exception {
        List<String> ids = new ArrayList<>();
        try {
            QueryResult result = type == null
                ? admin.queryMessage(topic, key, question.getIntValue("max"),
                    question.getLongValue("begin"), question.getLongValue("end"))
                : admin.queryMessage(null, topic, key, question.getIntValue("max"),
                    question.getLongValue("begin"), question.getLongValue("end"), false, type,
                    null);
            for (MessageExt message : result.getMessageList()) {
                ids.add(offsetId(message));
            }
        } catch (MQClientException nothing) {
            if (!nothing.getErrorMessage().contains("no message")) {
                throw nothing;
            }
        }
        return ids;
    }

    private interface Search {
        MessageExt run() throws Exception;
    }

    private static Object found(Search search) throws Exception {
        try {
            MessageExt message = search.run();
            return message == null ? new HashMap<>() : describe(message);
        } catch (MQClientException | MQBrokerException nothing) {
            return new HashMap<>();
        }
    }

    private static String offsetId(MessageExt message) {
        return message instanceof MessageClientExt
            ? ((MessageClientExt) message).getOffsetMsgId() : message.getMsgId();
    }

    private static Map<String, Object> describe(MessageExt message) throws Exception {
        Map<String, Object> fields = new LinkedHashMap<>();
        byte[] body = message.getBody();
        fields.put("queueOffset", message.getQueueOffset());
        fields.put("commitLogOffset", message.getCommitLogOffset());
        fields.put("storeSize", message.getStoreSize());
        fields.put("storeTimestamp", message.getStoreTimestamp());
        fields.put("bornTimestamp", message.getBornTimestamp());
        fields.put("msgId", message.getMsgId());
        fields.put("offsetMsgId", offsetId(message));
        fields.put("sysFlag", message.getSysFlag());
        fields.put("flag", message.getFlag());
        fields.put("reconsumeTimes", message.getReconsumeTimes());
        fields.put("preparedTransactionOffset", message.getPreparedTransactionOffset());
        fields.put("tags", message.getTags());
        fields.put("keys", message.getKeys());
        Map<String, String> properties = new TreeMap<>(message.getProperties());
        // The client adds these two to what is stored.
        properties.remove(MessageConst.PROPERTY_MIN_OFFSET);
        properties.remove(MessageConst.PROPERTY_MAX_OFFSET);
        fields.put("properties", properties);
        fields.put("bodyCRC", message.getBodyCRC());
        fields.put("bodySize", body.length);
        fields.put("bodySha256", hex(MessageDigest.getInstance("SHA-256").digest(body)));
        return fields;
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte one : bytes) {
            text.append(String.format("%02x", one));
        }
        return text.toString();
    }

    private void print(Object answer) {
        out.println(JSON.toJSONString(answer, JSONWriter.Feature.WriteMapNullValue));
    }
}
