import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageExt;

/** Events of sends and messages: what the client knows of them. */
final class Told {
    private Told() {}

    static Map<String, Object> sent(String id, SendResult result) {
        Map<String, Object> event = Events.event("sent");
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
        Map<String, Object> event = Events.event(name);
        event.put("topic", message.getTopic());
        event.put("body", new String(message.getBody(), StandardCharsets.UTF_8));
        event.put("tags", message.getTags());
        event.put("keys", message.getKeys());
        event.put("colour", message.getUserProperty("colour"));
        event.put("priority", message.getProperty("_SYS_MSG_PRIORITY_"));
        event.put("uniqueId", MessageClientIDSetter.getUniqID(message));
        event.put("queueId", message.getQueueId());
        event.put("queueOffset", message.getQueueOffset());
        event.put("reconsumeTimes", message.getReconsumeTimes());
        event.put("bornTimestamp", message.getBornTimestamp());
        event.put("storeTimestamp", message.getStoreTimestamp());
        event.put("time", System.currentTimeMillis());
        return event;
    }
}
