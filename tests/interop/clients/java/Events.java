import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * What happened, one JSON object a line, on standard output.
 *
 * <p>The two releases bring different JSON libraries, so this writes its own: flat objects of text
 * and numbers are all that is needed.
 */
final class Events {
    private final PrintStream out;

    Events() {
        out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The client's log may not get between the lines.
        System.setOut(System.err);
    }

    static Map<String, Object> event(String name) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", name);
        return event;
    }

    static Map<String, Object> sent(String id, SendResult result) {
        Map<String, Object> event = event("sent");
        event.put("id", id);
        event.put("status", result.getSendStatus().name());
        event.put("msgId", result.getMsgId());
        event.put("offsetMsgId", result.getOffsetMsgId());
        event.put("queueId", result.getMessageQueue().getQueueId());
        event.put("queueOffset", result.getQueueOffset());
        event.put("recallHandle", Newer.recallHandle(result));
        return event;
    }

    static Map<String, Object> message(String name, MessageExt message) {
        Map<String, Object> event = event(name);
        event.put("topic", message.getTopic());
        event.put("body", new String(message.getBody(), StandardCharsets.UTF_8));
        event.put("tags", message.getTags());
        event.put("keys", message.getKeys());
        event.put("colour", message.getUserProperty("colour"));
        event.put("uniqueId", MessageClientIDSetter.getUniqID(message));
        event.put("queueId", message.getQueueId());
        event.put("queueOffset", message.getQueueOffset());
        event.put("reconsumeTimes", message.getReconsumeTimes());
        event.put("bornTimestamp", message.getBornTimestamp());
        event.put("storeTimestamp", message.getStoreTimestamp());
        event.put("time", System.currentTimeMillis());
        return event;
    }

    synchronized void print(Map<String, Object> event) {
        StringBuilder line = new StringBuilder("{");
        for (Map.Entry<String, Object> member : event.entrySet()) {
            line.append(line.length() == 1 ? "" : ",");
            line.append(quoted(member.getKey())).append(':');
            Object value = member.getValue();
            boolean isBare = value == null || value instanceof Number;
            line.append(isBare ? String.valueOf(value) : quoted(value.toString()));
        }
        out.println(line.append('}'));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
