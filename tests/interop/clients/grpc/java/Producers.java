import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientException;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.SendReceipt;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/**
 * Producers, one for each topic.
 *
 * <p>A message says itself what is answered when the broker asks about its transaction: the words
 * of its property `check` one after the other, the last one from then on.
 */
final class Producers {
    private final Events events;
    private final ClientServiceProvider provider;
    private final ClientConfiguration configuration;
    private final Map<String, Producer> byTopic = new HashMap<>();
    private final Map<String, Integer> asked = new ConcurrentHashMap<>();

    Producers(Events events, ClientServiceProvider provider, ClientConfiguration configuration) {
        this.events = events;
        this.provider = provider;
        this.configuration = configuration;
    }

    Producer of(String topic) throws ClientException {
        Producer producer = byTopic.get(topic);
        if (producer == null) {
            producer = provider.newProducerBuilder()
                .setClientConfiguration(configuration)
                .setTopics(topic)
                .setTransactionChecker(this::check)
                .build();
            byTopic.put(topic, producer);
        }
        return producer;
    }

    SendReceipt transact(Message message, String outcome) throws ClientException {
        Producer producer = of(message.getTopic());
        Transaction transaction = producer.beginTransaction();
        SendReceipt receipt = producer.send(message, transaction);
        if (outcome.equals("commit")) {
            transaction.commit();
        } else if (outcome.equals("rollback")) {
            transaction.rollback();
        }
        return receipt;
    }

    private TransactionResolution check(MessageView message) {
        String[] words = message.getProperties().get("check").split(" ");
        int times = asked.merge(message.getMessageId().toString(), 1, Integer::sum);
        String word = words[Math.min(times, words.length) - 1];
        Map<String, Object> event = Told.message("checked", message);
        event.put("group", message.getTopic());
        event.put("answer", word);
        events.print(event);
        return TransactionResolution.valueOf(word.toUpperCase());
    }
}
