import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Producers of transactions, one for each group.
 *
 * <p>A message says itself what becomes of it: its property `outcome` at once, the words of its
 * property `check` one after the other when the broker asks, the last one from then on.
 */
final class Transactions {
    private final Events events;
    private final String nameServer;
    private final String process;
    private final Map<String, TransactionMQProducer> producers = new HashMap<>();
    private final Map<String, Integer> asked = new ConcurrentHashMap<>();

    Transactions(Events events, String nameServer, String process) {
        this.events = events;
        this.nameServer = nameServer;
        this.process = process;
    }

    TransactionSendResult send(String group, Message message) throws Exception {
        TransactionMQProducer producer = producers.get(group);
        if (producer == null) {
            producer = start(group);
            producers.put(group, producer);
        }
        return producer.sendMessageInTransaction(message, null);
    }

    private TransactionMQProducer start(String group) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer(group);
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(process + "-" + group);
        // A broker that was restarted knows its producers again when they say hello.
        producer.setHeartbeatBrokerInterval(1000);
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object unused) {
                return state(message.getUserProperty("outcome"));
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                String[] words = message.getUserProperty("check").split(" ");
                int times = asked.merge(message.getTransactionId(), 1, Integer::sum);
                String word = words[Math.min(times, words.length) - 1];
                Map<String, Object> event = Told.message("checked", message);
                event.put("group", group);
                event.put("answer", word);
                events.print(event);
                return state(word);
            }
        });
        producer.start();
        return producer;
    }

    private static LocalTransactionState state(String word) {
        switch (word) {
            case "commit": return LocalTransactionState.COMMIT_MESSAGE;
            case "rollback": return LocalTransactionState.ROLLBACK_MESSAGE;
            default: return LocalTransactionState.UNKNOW;
        }
    }
}
