import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One line of standard input: form-encoded fields, of which some may occur more than once. */
final class Command {
    private final Map<String, List<String>> fields = new HashMap<>();

    Command(String line) {
        for (String field : line.split("&")) {
            int end = field.indexOf('=');
            String value = URLDecoder.decode(field.substring(end + 1), StandardCharsets.UTF_8);
            fields.computeIfAbsent(field.substring(0, end), name -> new ArrayList<>()).add(value);
        }
    }

    boolean has(String name) {
        return fields.containsKey(name);
    }

    /** The only value of a field that must be there. */
    String text(String name) {
        return fields.get(name).get(0);
    }

    String text(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    List<String> texts(String name) {
        return fields.get(name);
    }
}
