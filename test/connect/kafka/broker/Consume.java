import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads so many messages of a topic and commits them: what a plain loop in Java costs. Consume BROKERS TOPIC GROUP COUNT */
public class Consume {
    public static void main(String[] args) {
        Properties given = new Properties();
        given.put("bootstrap.servers", args[0]);
        given.put("group.id", args[2]);
        given.put("auto.offset.reset", "earliest");
        given.put("enable.auto.commit", "true");
        long count = Long.parseLong(args[3]), bytes = 0, read = 0;
        try (KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(given, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(args[1]));
            while (read < count) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    bytes += record.value().length;
                    read++;
                }
            }
            consumer.commitSync();
        }
        System.out.println(read + " " + bytes);
    }
}
