import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.latency.LatencyFaultTolerance;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/**
 * The tables that the Java client goes by. One question a line, one answer:
 * rest LATENCY ISOLATED → = for how many ms a broker that took so long is left alone
 * pop → = how many s a popped message stays away, by how often it was tried
 * levels → = the delay levels of a broker
 */
public final class ClientTables {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println("= " + answer(words));
        }
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "rest":
                return rest(Long.parseLong(words[1]), Boolean.parseBoolean(words[2]));
            case "pop":
                return popLevels();
            default:
                return new MessageStoreConfig().getMessageDelayLevel();
        }
    }

    @SuppressWarnings("unchecked")
    private static String rest(long latency, boolean isIsolated) throws Exception {
        List<Object> told = new ArrayList<>();
        LatencyFaultTolerance<String> noting = (LatencyFaultTolerance<String>) Proxy.newProxyInstance(
            ClientTables.class.getClassLoader(),
            new Class<?>[] {LatencyFaultTolerance.class},
            (proxy, method, given) -> {
                if (method.getName().equals("updateFaultItem")) {
                    told.add(given[2]);
                }
                return method.getReturnType() == boolean.class ? (Object) false : null;
            });
        MQFaultStrategy strategy = new MQFaultStrategy(new ClientConfig(), name -> name, (a, b) -> true);
        Field field = MQFaultStrategy.class.getDeclaredField("latencyFaultTolerance");
        field.setAccessible(true);
        field.set(strategy, noting);
        strategy.setSendLatencyFaultEnable(true);
        strategy.updateFaultItem("b", latency, isIsolated, true);
        return String.valueOf(told.get(0));
    }

    private static String popLevels() throws Exception {
        DefaultMQPushConsumerImpl consumer =
            new DefaultMQPushConsumer("g").getDefaultMQPushConsumerImpl();
        Field field = DefaultMQPushConsumerImpl.class.getDeclaredField("popDelayLevel");
        field.setAccessible(true);
        List<String> found = new ArrayList<>();
        for (int one : (int[]) field.get(consumer)) {
            found.add(String.valueOf(one));
        }
        return String.join(" ", found);
    }
}
