import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.rocketmq.client.apis.message.MessageView;

/** Events of messages: what the client knows of them. */
final class Told {
    private Told() {}

    static Map<String, Object> message(String name, MessageView message) {
        Map<String, Object> event = Events.event(name);
        event.put("topic", message.getTopic());
        event.put("body", StandardCharsets.UTF_8.decode(message.getBody()).toString());
        event.put("tags", message.getTag().orElse(null));
        event.put("keys", String.join(" ", message.getKeys()));
        event.put("colour", message.getProperties().get("colour"));
        event.put("messageGroup", message.getMessageGroup().orElse(null));
        event.put("msgId", message.getMessageId());
        event.put("attempt", message.getDeliveryAttempt());
        event.put("bornTimestamp", message.getBornTimestamp());
        event.put("time", System.currentTimeMillis());
        return event;
    }
}
