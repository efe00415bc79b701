import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * How the Java client shares queues out. One case a line, in and out:
 * strategy;member;member,member;broker:id,broker:id → = broker:id,broker:id
 * A machine room is what comes before the "@" of a name.
 */
public final class Allocation {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(";", -1);
            List<MessageQueue> queues = new ArrayList<>();
            for (String one : parts[3].split(",")) {
                String[] words = one.split(":");
                queues.add(new MessageQueue("T", words[0], Integer.parseInt(words[1])));
            }
            List<String> members = Arrays.asList(parts[2].split(","));
            List<String> found = new ArrayList<>();
            for (MessageQueue queue
                : strategy(parts[0]).allocate("g", parts[1], queues, members)) {
                found.add(queue.getBrokerName() + ":" + queue.getQueueId());
            }
            System.out.println("= " + String.join(",", found));
        }
    }

    private static AllocateMessageQueueStrategy strategy(String name) {
        switch (name) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash();
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom rooms = new AllocateMessageQueueByMachineRoom();
                rooms.setConsumeridcs(new HashSet<>(Arrays.asList("r1", "r2")));
                return rooms;
            case "MACHINE_ROOM_NEARBY-AVG":
                return new AllocateMachineRoomNearby(
                    new AllocateMessageQueueAveragely(),
                    new AllocateMachineRoomNearby.MachineRoomResolver() {
                        @Override
                        public String brokerDeployIn(MessageQueue queue) {
                            return queue.getBrokerName().split("@")[0];
                        }

                        @Override
                        public String consumerDeployIn(String clientId) {
                            return clientId.split("@")[0];
                        }
                    });
            default:
                throw new IllegalArgumentException(name);
        }
    }
}
