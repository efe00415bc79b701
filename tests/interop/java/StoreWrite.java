import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Sends with the Java client what standard input says, one send a line, and answers each with a
 * line once it is acknowledged.
 *
 * <pre>
 * {"topic":T,"queueId":Q,"messages":[{"body":base64,"tags":…,"keys":…,"flag":n,"properties":{…}}]}
 * {"status":"SEND_OK","msgId":…,"offsetMsgId":…,"queueId":Q,"queueOffset":n}
 * </pre>
 *
 * <p>Several messages in one line are sent as a batch. Argument: the broker's address.
 */
public class StoreWrite {
    public static void main(String[] args) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The client's log may not get between the answers.
        System.setOut(System.err);
        try {
            DefaultMQProducer producer = new DefaultMQProducer("interop-write");
            // Never asked, but a client does not start without one.
            producer.setNamesrvAddr(args[0]);
            producer.setInstanceName("interop-write");
            producer.setVipChannelEnabled(false);
            producer.setSendMsgTimeout(10_000);
            producer.setRetryTimesWhenSendFailed(0);
            producer.start();
            MQClientInstance client = producer.getDefaultMQProducerImpl().getMqClientFactory();
            BufferedReader sends =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = sends.readLine(); line != null; line = sends.readLine()) {
                JSONObject described = JSON.parseObject(line);
                Direct.teach(client, args[0], described.getString("topic"));
                out.println(JSON.toJSONString(send(producer, described)));
            }
        } catch (Exception error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        // Threads of the client would hold the process for a while.
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> send(DefaultMQProducer producer, JSONObject line)
        throws Exception {
        String topic = line.getString("topic");
        MessageQueue queue = new MessageQueue(topic, Direct.BROKER, line.getIntValue("queueId"));
        List<Message> messages = new ArrayList<>();
        JSONArray described = line.getJSONArray("messages");
        for (int i = 0; i < described.size(); i++) {
            messages.add(message(topic, described.getJSONObject(i)));
        }
        SendResult result = messages.size() == 1
            ? producer.send(messages.get(0), queue) : producer.send(messages, queue);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("status", result.getSendStatus().name());
        answer.put("msgId", result.getMsgId());
        answer.put("offsetMsgId", result.getOffsetMsgId());
        answer.put("queueId", result.getMessageQueue().getQueueId());
        answer.put("queueOffset", result.getQueueOffset());
        return answer;
    }

    private static Message message(String topic, JSONObject described) {
        Message message =
            new Message(topic, Base64.getDecoder().decode(described.getString("body")));
        if (described.containsKey("tags")) {
            message.setTags(described.getString("tags"));
        }
        if (described.containsKey("keys")) {
            message.setKeys(described.getString("keys"));
        }
        message.setFlag(described.getIntValue("flag"));
        JSONObject properties = described.getJSONObject("properties");
        if (properties != null) {
            for (String name : properties.keySet()) {
                message.putUserProperty(name, properties.getString(name));
            }
        }
        return message;
    }
}
