import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;

/**
 * Tells a client where a broker is, as a name server would.
 *
 * <p>A broker that has just started registers with its name server only ten seconds later, which
 * is longer than everything else that a test does with it.
 */
final class Direct {
    static final String BROKER = "broker-a";

    private Direct() {
    }

    /** Every topic has its queues on the broker at this address. */
    static void teach(MQClientInstance client, String address, String topic) throws Exception {
        BrokerData broker =
            new BrokerData("DefaultCluster", BROKER, new HashMap<>(Map.of(0L, address)));
        QueueData queues = new QueueData();
        queues.setBrokerName(BROKER);
        queues.setPerm(6);
        TopicRouteData route = new TopicRouteData();
        route.setBrokerDatas(new ArrayList<>(List.of(broker)));
        route.setQueueDatas(new ArrayList<>(List.of(queues)));
        client.getTopicRouteTable().put(topic, route);
        // After the route: the client forgets addresses that no route mentions.
        Field table = MQClientInstance.class.getDeclaredField("brokerAddrTable");
        table.setAccessible(true);
        @SuppressWarnings("unchecked")
        Map<String, Map<Long, String>> addresses =
            (Map<String, Map<Long, String>>) table.get(client);
        addresses.put(BROKER, broker.getBrokerAddrs());
    }
}
