import java.lang.reflect.InvocationTargetException;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/**
 * What the newer release offers and the older one does not, called by its name: the same source is
 * compiled against both.
 */
final class Newer {
    private Newer() {}

    static void deliverAt(Message message, long milliseconds) throws Exception {
        call(message, "setDeliverTimeMs", long.class, milliseconds);
    }

    static void delayFor(Message message, long milliseconds) throws Exception {
        call(message, "setDelayTimeMs", long.class, milliseconds);
    }

    static void prioritise(Message message, int priority) throws Exception {
        call(message, "setPriority", int.class, priority);
    }

    /** What takes a message back that is not due yet; null in the older release. */
    static Object recallHandle(SendResult result) {
        try {
            return SendResult.class.getMethod("getRecallHandle").invoke(result);
        } catch (ReflectiveOperationException absent) {
            return null;
        }
    }

    static Object recall(DefaultMQProducer producer, String topic, String handle)
        throws Exception {
        try {
            return DefaultMQProducer.class.getMethod("recallMessage", String.class, String.class)
                .invoke(producer, topic, handle);
        } catch (InvocationTargetException refused) {
            throw (Exception) refused.getCause();
        }
    }

    /** The broker says which queues to read, and that they are to be popped. */
    static void letBrokerAssign(DefaultMQPushConsumer consumer, long invisibleMilliseconds)
        throws Exception {
        call(consumer, "setClientRebalance", boolean.class, false);
        call(consumer, "setPopInvisibleTime", long.class, invisibleMilliseconds);
    }

    private static void call(Object on, String name, Class<?> type, Object value)
        throws Exception {
        on.getClass().getMethod(name, type).invoke(on, value);
    }
}
