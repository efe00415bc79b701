import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What happened, one JSON object a line, on standard output.
 *
 * <p>The clients bring different JSON libraries, or none, so this writes its own: flat objects of
 * text and numbers are all that is needed.
 */
final class Events {
    private final PrintStream out;

    Events() {
        out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The client's log may not get between the lines.
        System.setOut(System.err);
    }

    static Map<String, Object> event(String name) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", name);
        return event;
    }

    synchronized void print(Map<String, Object> event) {
        StringBuilder line = new StringBuilder("{");
        for (Map.Entry<String, Object> member : event.entrySet()) {
            line.append(line.length() == 1 ? "" : ",");
            line.append(quoted(member.getKey())).append(':');
            Object value = member.getValue();
            boolean isBare = value == null || value instanceof Number;
            line.append(isBare ? String.valueOf(value) : quoted(value.toString()));
        }
        out.println(line.append('}'));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
