import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.*;

/**
 * A small server that implements the animal store's contract, for JDK 17 or newer, without dependencies. Start it with
 * `java Server.java`.
 *
 * It shares no code with the TypeScript service. It stores everything in memory. Its choices, where the contract leaves
 * them open: ids count up from 2^53; lists begin with the oldest animal; without `status` an animal is pending;
 * integers may be written 1.0 or 1e3; other media types get 415; the limits count any 60 seconds and any 24 hours;
 * the headers show the window with fewer requests left; the 15th early retry bans a key for 120 s; from 5 December 2030
 * in UTC `GET /pets/{petId}` gets 410. Each `--vary NAME` makes another choice: see Servers.fixture.ts.
 */
public final class Server {
    static final long MINUTE = 60_000, DAY = 86_400_000; // all times are in milliseconds
    static final long REMOVAL = 1_922_659_200_000L; // 2030-12-05T00:00:00Z
    static final long END_OF_TIME = 253_402_300_799_000L; // the last second that a Date header can show
    static final int MAX_HEAD = 32_768, MAX_BODY = 1_048_576, MAX_NAME = 1000, MAX_DEPTH = 64, STRANGERS = 90;
    static final Set<String> STATUSES = Set.of("available", "pending", "sold");
    static final Set<String> VARIATIONS = Set.of("bans-at-once", "catalogue-per-key", "chunked", "clamped-limit",
        "close", "cursors", "date-of-machine", "day-shown", "extra-members", "fixed-windows", "french",
        "header-case", "ipv6", "newest-first", "no-bans", "no-date", "retry-date", "status-changes",
        "strangers-not-counted", "strict", "unknown-path-first");
    static final DateTimeFormatter HTTP_DATE =
        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC);

    // --- Requests and responses -----------------------------------------------------------------------------

    record Request(String method, String path, String query, Map<String, List<String>> headers, byte[] body,
                   boolean keepAlive, Failure failure) {}

    record Response(int status, Object value, Map<String, String> headers) {}

    /** Ends the handling of a request with an Error response. */
    static final class Failure extends RuntimeException {
        final int status;
        final String code;
        final Map<String, String> headers = new LinkedHashMap<>();

        Failure(int status, String code, String message) {
            super(message, null, false, false);
            this.status = status;
            this.code = code;
        }

        Failure with(String name, String text) {
            headers.put(name, text);
            return this;
        }
    }

    interface Application {
        Response handle(Request request, String address);
    }

    /** A clock that starts at the machine's time and only moves forward. */
    static final class Clock {
        private long ahead = System.currentTimeMillis() - System.nanoTime() / 1_000_000;

        synchronized long now() {
            return System.nanoTime() / 1_000_000 + ahead;
        }

        synchronized long advance(long ms) {
            if (ms < 0 || ms > END_OF_TIME - now()) throw new Failure(400, "bad-advance", "ms is out of range");
            ahead += ms;
            return now();
        }
    }

    // --- Limits: contract §8 --------------------------------------------------------------------------------

    /** Counts requests in the last `length` ms or, if fixed, in the clock's minute or UTC day. */
    static final class Window {
        final int limit;
        private final long length;
        private final boolean fixed;
        private final ArrayDeque<Long> times = new ArrayDeque<>();

        Window(int limit, long length, boolean fixed) {
            this.limit = limit;
            this.length = length;
            this.fixed = fixed;
        }

        private long end(long time) {
            return fixed ? time - time % length + length : time + length;
        }

        int left(long now) {
            while (!times.isEmpty() && end(times.getFirst()) <= now) times.removeFirst();
            return limit - times.size();
        }

        long free(long now) {
            return left(now) > 0 ? now : end(times.getFirst());
        }

        long reset(long now) {
            return left(now) == limit ? end(now) : end(times.getLast());
        }
    }

    /** Counts the requests of one caller. Only keys can be banned. */
    static final class Meter {
        private final Server server;
        private final List<Window> windows;
        private final int banAfter;
        private final long banLength;
        private int ignored;
        private long retryAt, bannedUntil;

        Meter(Server server, boolean isKey, int perMinute, int perDay) {
            this.server = server;
            boolean fixed = server.varies("fixed-windows");
            Window minute = new Window(perMinute, MINUTE, fixed);
            windows = isKey ? List.of(minute, new Window(perDay, DAY, fixed)) : List.of(minute);
            banAfter = !isKey || server.varies("no-bans") ? Integer.MAX_VALUE : server.varies("bans-at-once") ? 2 : 15;
            banLength = server.varies("bans-at-once") ? 45_000 : 120_000;
        }

        /** Counts a request and puts the rate headers into `headers`; returns a Failure if it is over the limit. */
        Failure admit(long now, Map<String, String> headers) {
            boolean isBanned = now < bannedUntil;
            long free = windows.stream().mapToLong(window -> window.free(now)).max().orElse(now);
            Failure failure = null;
            if (!isBanned && free <= now) {
                windows.forEach(window -> window.times.addLast(now));
                ignored = 0;
            } else {
                if (!isBanned && now < retryAt && ++ignored == banAfter) {
                    isBanned = true;
                    ignored = 0;
                    bannedUntil = now + banLength;
                }
                retryAt = Math.max(free, isBanned ? bannedUntil : 0);
                long second = Math.max(seconds(retryAt), now / 1000 + 1);
                String after = server.varies("retry-date")
                    ? HTTP_DATE.format(Instant.ofEpochSecond(second))
                    : String.valueOf(Math.max(1, seconds(retryAt - now)));
                failure = new Failure(429, isBanned ? "banned" : "too-many",
                    isBanned ? "the key is banned for a while" : "no requests are left").with("Retry-After", after);
            }
            Window shown = server.varies("day-shown") ? windows.get(windows.size() - 1)
                : Collections.min(windows, Comparator.comparingInt(window -> window.left(now)));
            headers.put("X-RateLimit-Limit", String.valueOf(shown.limit));
            headers.put("X-RateLimit-Remaining", String.valueOf(shown.left(now)));
            headers.put("X-RateLimit-Reset", String.valueOf(seconds(shown.reset(now))));
            return failure;
        }
    }

    /** Converts milliseconds to seconds, rounded up. */
    static long seconds(long ms) {
        return (ms + 999) / 1000;
    }

    // --- The service: contract §2 to §5 ---------------------------------------------------------------------

    record Pet(long id, String name, long categoryId, String status, long bornAt) {}

    private final Set<String> variations;
    private final Clock clock;
    private final Map<String, Meter> meters = new HashMap<>();
    private final Map<String, Meter> strangers = new HashMap<>();
    private final Map<String, NavigableMap<Long, Pet>> catalogues = new HashMap<>();
    private long nextId = 1L << 53;

    Server(Set<String> variations, Clock clock) {
        this.variations = variations;
        this.clock = clock;
    }

    boolean varies(String name) {
        return variations.contains(name);
    }

    /** Every response has the rate headers of the meter that counted the request. */
    synchronized Response handle(Request request, String address) {
        long now = clock.now();
        String key = keyOf(request);
        Meter meter = meters.get(key);
        boolean isKnown = meter != null;
        if (!isKnown) {
            if (varies("strangers-not-counted")) strangers.clear();
            meter = strangers.computeIfAbsent(address, any -> new Meter(this, false, STRANGERS, 0));
        }
        Map<String, String> headers = new LinkedHashMap<>();
        Failure failure = meter.admit(now, headers);
        Response response;
        try {
            if (failure != null) throw failure;
            if (request.failure != null && request.method.isEmpty()) throw request.failure;
            response = perform(request, isKnown ? key : null, now);
        } catch (Failure rejected) {
            response = error(rejected);
        }
        headers.putAll(response.headers);
        return new Response(response.status, response.value, headers);
    }

    private Response perform(Request request, String key, long now) {
        String[] parts = Arrays.stream(request.path.split("/", -1)).map(Server::decoded).toArray(String[]::new);
        boolean isPath = parts.length >= 3 && parts.length <= 4
            && parts[0].isEmpty() && parts[1].equals("v1") && parts[2].equals("pets");
        if (!isPath && varies("unknown-path-first")) throw new Failure(404, "no-path", "there is nothing here");
        if (key == null) {
            throw new Failure(401, "no-key", "send a valid API key as a bearer token")
                .with("WWW-Authenticate", "Bearer realm=\"animals\"");
        }
        if (!isPath) throw new Failure(404, "no-path", "there is nothing here");
        var catalogue = catalogues.computeIfAbsent(varies("catalogue-per-key") ? key : "", any -> new TreeMap<>());
        boolean isOne = parts.length == 4;
        boolean isGet = request.method.equals("GET") || request.method.equals("HEAD");
        if (isOne && isGet) {
            if (now >= REMOVAL) throw new Failure(410, "removed", "list the animals by status instead");
            Pet pet = parts[3].matches("[1-9][0-9]{0,17}") ? catalogue.get(Long.parseLong(parts[3])) : null;
            if (pet == null) throw new Failure(404, "no-pet", "there is no animal with this id");
            return new Response(200, show(pet, now), Map.of());
        }
        if (isGet) return list(catalogue, queryOf(request.query), now);
        if (!isOne && request.method.equals("POST")) {
            Pet pet = newPet(request, now);
            catalogue.put(pet.id, pet);
            return new Response(201, show(pet, now), Map.of("Location", "/v1/pets/" + pet.id));
        }
        throw new Failure(405, "no-method", "the path does not have this method")
            .with("Allow", isOne ? "GET, HEAD" : "GET, HEAD, POST");
    }

    private Response list(NavigableMap<Long, Pet> catalogue, Map<String, String> query, long now) {
        if (varies("strict") && !Set.of("limit", "status").containsAll(query.keySet())) {
            throw new Failure(400, "bad-query", "a parameter is unknown");
        }
        String text = query.getOrDefault("limit", "20");
        boolean isNumber = text.matches("[0-9]{1,9}");
        int asked = isNumber ? Integer.parseInt(text) : 0;
        int limit = varies("clamped-limit") && isNumber ? Math.max(1, Math.min(100, asked)) : asked;
        if (limit < 1 || limit > 100) throw new Failure(400, "bad-query", "limit is an integer from 1 to 100");
        String status = query.get("status");
        if (status != null && !STATUSES.contains(status)) throw new Failure(400, "bad-query", "status is unknown");
        Map<String, String> headers = new LinkedHashMap<>();
        List<Object> page = new ArrayList<>();
        var pets = varies("newest-first") ? catalogue.descendingMap() : catalogue;
        Long last = null;
        String cursor = varies("cursors") ? query.get("after") : null;
        if (cursor != null) {
            if (!cursor.matches("a\\+b/c d=%[0-9]{16,18}")) throw new Failure(400, "bad-query", "after is no cursor");
            last = Long.valueOf(cursor.substring(9));
        }
        for (Pet pet : (last == null ? pets : pets.tailMap(last, false)).values()) {
            if (status != null && !status.equals(statusOf(pet, now))) continue;
            if (page.size() == limit) {
                if (varies("cursors")) {
                    String next = "?limit=" + limit + (status == null ? "" : "&status=" + status)
                        + "&after=" + URLEncoder.encode("a+b/c d=%" + last, UTF_8);
                    headers.put("Link", "</v1/pets" + next + ">; rel=\"next\"");
                }
                break;
            }
            page.add(show(pet, now));
            last = pet.id;
        }
        return new Response(200, page, headers);
    }

    private String statusOf(Pet pet, long now) {
        boolean isOld = varies("status-changes") && now >= pet.bornAt + DAY;
        return isOld && pet.status.equals("pending") ? "sold" : pet.status;
    }

    private Map<String, Object> show(Pet pet, long now) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", pet.name);
        shown.put("status", statusOf(pet, now));
        shown.put("categoryId", pet.categoryId);
        shown.put("id", pet.id);
        if (varies("extra-members")) shown.put("owner", Arrays.asList(null, true, 7L, Map.of("name", "nobody")));
        return shown;
    }

    private Pet newPet(Request request, long now) {
        String type = String.join(",", request.headers.getOrDefault("content-type", List.of("application/json")));
        if (!type.toLowerCase(Locale.ROOT).matches("application/json\\s*(;.*)?")) {
            throw new Failure(415, "bad-type", "the body must be application/json");
        }
        Map<?, ?> fields = objectOf(request);
        if (varies("strict") && !Set.of("name", "categoryId", "status").containsAll(fields.keySet())) {
            throw new Failure(400, "bad-body", "a field is unknown");
        }
        if (!(fields.get("name") instanceof String name) || name.codePointCount(0, name.length()) > MAX_NAME
            || !UTF_16.newEncoder().canEncode(name)) {
            throw new Failure(400, "bad-body", "name is a string of at most " + MAX_NAME + " characters");
        }
        long category = int64(fields.get("categoryId"), "categoryId");
        Object status = fields.containsKey("status") ? fields.get("status") : "pending";
        if (status == null || !STATUSES.contains(status)) throw new Failure(400, "bad-body", "status is unknown");
        return new Pet(nextId++, name, category, (String) status, now);
    }

    /** Returns the key that was sent; empty if there is none or more than one. */
    private static String keyOf(Request request) {
        List<String> sent = request.headers.getOrDefault("authorization", List.of());
        if (sent.size() != 1 || !sent.get(0).matches("(?i)bearer +\\S+")) return "";
        return sent.get(0).substring(7).strip();
    }

    private static Map<String, String> queryOf(String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query.split("&")) {
            if (pair.isEmpty()) continue;
            String[] sides = pair.split("=", 2);
            try {
                parameters.put(URLDecoder.decode(sides[0], UTF_8),
                    sides.length == 2 ? URLDecoder.decode(sides[1], UTF_8) : "");
            } catch (IllegalArgumentException malformed) {
                throw new Failure(400, "bad-query", "the query is malformed");
            }
        }
        return parameters;
    }

    private static String decoded(String segment) {
        try {
            return URLDecoder.decode(segment.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException malformed) {
            return segment;
        }
    }

    private Response error(Failure failure) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("status", (long) failure.status);
        body.put("message", varies("french") ? "Désolé, c’est refusé." : failure.getMessage());
        body.put("code", varies("french") ? "E" + failure.status : failure.code);
        if (varies("extra-members")) body.put("help", Map.of("see", List.of("§7")));
        return new Response(failure.status, body, failure.headers);
    }

    /** The application behind --test-clock-port, for tests only: reads the clock and moves it forward. */
    Response control(Request request, String address) {
        try {
            if (request.failure != null) throw request.failure;
            if (request.path.equals("/clock/advance")) clock.advance(int64(objectOf(request).get("ms"), "ms"));
            else if (!request.path.equals("/clock")) throw new Failure(404, "no-path", "there is nothing here");
            return new Response(200, Map.of("now", clock.now()), Map.of());
        } catch (Failure failure) {
            return error(failure);
        }
    }

    // --- JSON: RFC 8259 -------------------------------------------------------------------------------------

    static Map<?, ?> objectOf(Request request) {
        if (request.failure != null) throw request.failure;
        try {
            String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(request.body)).toString();
            if (new Json(text).whole() instanceof Map<?, ?> fields) return fields;
        } catch (CharacterCodingException malformed) {
            throw new Failure(400, "bad-json", "the body is not UTF-8");
        }
        throw new Failure(400, "bad-body", "the body must be an object");
    }

    /** Returns an integer by value: 1.0 and 1e3 are integers. */
    static long int64(Object value, String field) {
        if (value instanceof BigDecimal number) {
            boolean isShort = number.signum() == 0 || number.precision() - (long) number.scale() <= 19;
            try {
                if (number.signum() == 0) return 0;
                if (isShort && number.stripTrailingZeros().scale() <= 0) return number.longValueExact();
            } catch (ArithmeticException beyondInt64) {
                // rejected below
            }
        }
        throw new Failure(400, "bad-body", field + " must be an integer of 64 bits");
    }

    /** Reads one JSON text. If members have the same name, the last one counts. */
    static final class Json {
        private static final Pattern NUMBER =
            Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        Object whole() {
            Object value = value(0);
            return peek() == 0 && at == text.length() ? value : fail();
        }

        private Object fail() {
            throw new Failure(400, "bad-json", "the body is not JSON, or too deep");
        }

        /** Returns the next character after white space; 0 at the end. */
        private char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            return at < text.length() ? text.charAt(at) : 0;
        }

        private boolean take(char wanted) {
            if (peek() != wanted) return false;
            at++;
            return true;
        }

        private Object word(String word, Object value) {
            if (!text.startsWith(word, at)) return fail();
            at += word.length();
            return value;
        }

        private Object value(int depth) {
            if (depth > MAX_DEPTH) fail();
            return switch (peek()) {
                case '{' -> object(depth);
                case '[' -> array(depth);
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> number();
            };
        }

        private Object object(int depth) {
            Map<String, Object> fields = new HashMap<>();
            at++;
            if (take('}')) return fields;
            do {
                if (peek() != '"') fail();
                String name = string();
                if (!take(':')) fail();
                fields.put(name, value(depth + 1));
            } while (take(','));
            return take('}') ? fields : fail();
        }

        private Object array(int depth) {
            List<Object> items = new ArrayList<>();
            at++;
            if (take(']')) return items;
            do items.add(value(depth + 1)); while (take(','));
            return take(']') ? items : fail();
        }

        private Object number() {
            var match = NUMBER.matcher(text).region(at, text.length());
            if (!match.lookingAt()) return fail();
            at = match.end();
            // A number of more than 400 characters is never meant as a 64-bit integer, and converting it would be slow.
            if (match.group().length() > 400) return "long number";
            try {
                return new BigDecimal(match.group());
            } catch (NumberFormatException exponentBeyondInt) {
                return "large exponent";
            }
        }

        private String string() {
            StringBuilder read = new StringBuilder();
            at++;
            while (at < text.length()) {
                char next = text.charAt(at++);
                if (next == '"') return read.toString();
                if (next < ' ') fail();
                if (next != '\\') {
                    read.append(next);
                    continue;
                }
                char escaped = at < text.length() ? text.charAt(at++) : 0;
                int plain = "\"\\/bfnrt".indexOf(escaped);
                if (plain >= 0) {
                    read.append("\"\\/\b\f\n\r\t".charAt(plain));
                } else if (escaped == 'u' && text.substring(at, Math.min(at + 4, text.length())).matches("[0-9a-fA-F]{4}")) {
                    read.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    fail();
                }
            }
            return (String) fail();
        }

        static void write(Object value, StringBuilder out) {
            if (value instanceof String string) {
                out.append('"');
                for (char each : string.toCharArray()) {
                    if (each == '"' || each == '\\') out.append('\\').append(each);
                    else if (each < ' ') out.append(String.format("\\u%04x", (int) each));
                    else out.append(each);
                }
                out.append('"');
            } else if (value instanceof List<?> items) {
                String separator = "[";
                for (Object item : items) {
                    out.append(separator);
                    write(item, out);
                    separator = ",";
                }
                out.append(items.isEmpty() ? "[]" : "]");
            } else if (value instanceof Map<?, ?> fields) {
                String separator = "{";
                for (var field : fields.entrySet()) {
                    out.append(separator);
                    write(field.getKey(), out);
                    out.append(':');
                    write(field.getValue(), out);
                    separator = ",";
                }
                out.append(fields.isEmpty() ? "{}" : "}");
            } else {
                out.append(value); // Long, Boolean and null are written in JSON as in Java
            }
        }
    }

    // --- HTTP/1.1: RFC 9112 ---------------------------------------------------------------------------------

    static Failure badHttp(String message) {
        return new Failure(400, "bad-http", message);
    }

    /** Handles one connection, in its own thread. */
    final class Connection implements Runnable {
        private final Socket socket;
        private final Application application;
        private InputStream in;
        private int headLeft;

        Connection(Socket socket, Application application) {
            this.socket = socket;
            this.application = application;
        }

        @Override
        public void run() {
            try (socket) {
                socket.setSoTimeout(30_000);
                socket.setTcpNoDelay(true);
                in = new BufferedInputStream(socket.getInputStream());
                while (exchange()) continue;
                socket.shutdownOutput();
                socket.setSoTimeout(500); // closing before all is read would reset the connection
                for (int read = 0; read < 10_000 && in.read() >= 0; read++) continue;
            } catch (IOException gone) {
                // the client closed the connection or timed out, so no response can be sent
            }
        }

        private boolean exchange() throws IOException {
            Request request;
            try {
                request = read();
                if (request == null) return false;
            } catch (Failure failure) {
                request = new Request("", "", "", Map.of(), new byte[0], false, failure);
            }
            Response response = application.handle(request, socket.getInetAddress().getHostAddress());
            boolean isOpen = request.keepAlive && !varies("close");
            socket.getOutputStream().write(encode(request, response, isOpen));
            return isOpen;
        }

        /** Reads the next line, without its end; returns `null` at the end of the connection. */
        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (--headLeft < 0) throw new Failure(431, "large-head", "the head is too large");
                if (next == '\n') {
                    int end = line.length() - 1;
                    return end >= 0 && line.charAt(end) == '\r' ? line.substring(0, end) : line.toString();
                }
                line.append((char) next);
            }
            return null;
        }

        private Request read() throws IOException {
            headLeft = MAX_HEAD;
            String start = line();
            while (start != null && start.isEmpty()) start = line();
            if (start == null) return null;
            String[] words = start.split(" ", -1);
            if (words.length != 3 || !words[0].matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+") || words[1].isEmpty()
                || !words[2].matches("HTTP/1\\.[01]")) {
                throw badHttp("the request line is malformed");
            }
            Map<String, List<String>> headers = new HashMap<>();
            for (String line = line(); ; line = line()) {
                if (line == null) return null;
                if (line.isEmpty()) break;
                if (!line.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\\x00-\\x08\\x0a-\\x1f\\x7f]*")) {
                    throw badHttp("a header is malformed");
                }
                String[] sides = line.split(":", 2);
                headers.computeIfAbsent(sides[0].toLowerCase(Locale.ROOT), any -> new ArrayList<>())
                    .add(sides[1].strip());
            }
            boolean isOld = words[2].equals("HTTP/1.0");
            int hosts = headers.getOrDefault("host", List.of()).size();
            if (hosts > 1 || hosts == 0 && !isOld) throw badHttp("there must be one Host");
            byte[] body = new byte[0];
            Failure failure = null;
            try {
                body = body(headers);
            } catch (Failure wrong) {
                failure = wrong;
            }
            String[] target = words[1].replaceFirst("(?i)^https?://[^/?]*", "").split("\\?", 2);
            String wishes = String.join(",", headers.getOrDefault("connection", List.of())).toLowerCase(Locale.ROOT);
            boolean keepAlive = failure == null && (isOld ? wishes.contains("keep-alive") : !wishes.contains("close"));
            String query = target.length == 2 ? target[1] : "";
            return new Request(words[0], target[0], query, headers, body, keepAlive, failure);
        }

        private byte[] body(Map<String, List<String>> headers) throws IOException {
            List<String> codings = headers.get("transfer-encoding");
            List<String> lengths = headers.getOrDefault("content-length", codings == null ? List.of("0") : List.of());
            boolean isChunked = codings != null && lengths.isEmpty() && codings.equals(List.of("chunked"));
            if (codings != null ? !isChunked : lengths.size() != 1 || !lengths.get(0).matches("[0-9]{1,18}")) {
                throw badHttp("the length of the body is malformed");
            }
            if (!isChunked && Long.parseLong(lengths.get(0)) > MAX_BODY) {
                throw new Failure(413, "large-body", "the body is too large");
            }
            if (headers.getOrDefault("expect", List.of()).contains("100-continue")) {
                socket.getOutputStream().write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
            }
            if (!isChunked) return exactly(Integer.parseInt(lengths.get(0)));
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            while (true) {
                String size = Objects.requireNonNullElse(line(), "").replaceFirst("[ \t]*;.*", "");
                if (!size.matches("[0-9a-fA-F]{1,7}")) throw badHttp("a chunk is malformed");
                int length = Integer.parseInt(size, 16);
                if (whole.size() + length > MAX_BODY) throw new Failure(413, "large-body", "the body is too large");
                whole.write(exactly(length));
                String end = line();
                while (length == 0 && end != null && !end.isEmpty()) end = line(); // trailer fields
                if (end == null || !end.isEmpty()) throw badHttp("a chunk is malformed");
                if (length == 0) return whole.toByteArray();
                headLeft = MAX_HEAD;
            }
        }

        private byte[] exactly(int length) throws IOException {
            byte[] read = in.readNBytes(length);
            if (read.length < length) throw badHttp("the body is shorter than announced");
            return read;
        }

        private byte[] encode(Request request, Response response, boolean isOpen) throws IOException {
            StringBuilder json = new StringBuilder();
            Json.write(response.value, json);
            byte[] payload = json.toString().getBytes(UTF_8);
            boolean isChunked = varies("chunked") && !request.method.isEmpty() && !request.method.equals("HEAD");
            StringBuilder head = new StringBuilder("HTTP/1.1 " + response.status + " -\r\n");
            Map<String, String> headers = new LinkedHashMap<>(response.headers);
            long now = varies("date-of-machine") ? System.currentTimeMillis() : clock.now();
            if (!varies("no-date")) headers.put("Date", HTTP_DATE.format(Instant.ofEpochMilli(now)));
            headers.put("Content-Type", "application/json");
            headers.put("Connection", isOpen ? "keep-alive" : "close");
            if (isChunked) headers.put("Transfer-Encoding", "chunked");
            else headers.put("Content-Length", String.valueOf(payload.length));
            headers.forEach((name, text) -> head
                .append(varies("header-case") ? name.toUpperCase(Locale.ROOT).replace('I', 'i') : name)
                .append(": ").append(text).append("\r\n"));
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(head.append("\r\n").toString().getBytes(ISO_8859_1));
            if (!isChunked) {
                if (!request.method.equals("HEAD")) out.writeBytes(payload);
                return out.toByteArray();
            }
            for (int at = 0; at < payload.length; at += 7) { // a chunk may end within a character
                int length = Math.min(7, payload.length - at);
                out.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(ISO_8859_1));
                out.write(payload, at, length);
                out.writeBytes("\r\n".getBytes(ISO_8859_1));
            }
            out.writeBytes("0\r\n\r\n".getBytes(ISO_8859_1));
            return out.toByteArray();
        }
    }

    /** Listens on the loopback address and returns the server's origin. */
    String listen(int port, Application application) throws IOException {
        String host = varies("ipv6") ? "::1" : "127.0.0.1";
        ServerSocket listener = new ServerSocket();
        listener.bind(new InetSocketAddress(InetAddress.getByName(host), port), 1024);
        Thread acceptor = new Thread(() -> {
            while (true) {
                try {
                    Thread thread = new Thread(new Connection(listener.accept(), application));
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException failed) {
                    failed.printStackTrace();
                }
            }
        });
        acceptor.start();
        return "http://" + (varies("ipv6") ? "[::1]" : host) + ":" + listener.getLocalPort();
    }

    public static void main(String[] arguments) throws IOException {
        Set<String> variations = new TreeSet<>();
        List<String[]> keys = new ArrayList<>();
        int port = 0, clockPort = -1;
        for (int at = 0; at < arguments.length; at += 2) {
            String flag = arguments[at], text = at + 1 < arguments.length ? arguments[at + 1] : "";
            switch (flag) {
                case "--port" -> port = Integer.parseInt(text);
                case "--test-clock-port" -> clockPort = Integer.parseInt(text);
                case "--vary" -> variations.add(text);
                case "--key" -> {
                    if (!text.matches("[!-9;-~]+:[1-9][0-9]{0,8}:[1-9][0-9]{0,8}")) exit("SECRET:PERMINUTE:PERDAY");
                    keys.add(text.split(":"));
                }
                default -> exit("--port N, --test-clock-port N, --key SECRET:PERMINUTE:PERDAY, --vary NAME");
            }
        }
        if (!VARIATIONS.containsAll(variations)) exit("--vary " + String.join(" | ", new TreeSet<>(VARIATIONS)));
        if (keys.isEmpty()) exit("--key SECRET:PERMINUTE:PERDAY");
        Server server = new Server(variations, new Clock());
        for (String[] key : keys) {
            Meter meter = new Meter(server, true, Integer.parseInt(key[1]), Integer.parseInt(key[2]));
            server.meters.put(key[0], meter);
        }
        Map<String, Object> greeting = new LinkedHashMap<>();
        greeting.put("url", server.listen(port, server::handle) + "/v1");
        greeting.put("clock", clockPort < 0 ? null : server.listen(clockPort, server::control) + "/clock");
        StringBuilder line = new StringBuilder();
        Json.write(greeting, line);
        System.out.println(line);
    }

    static void exit(String wanted) {
        System.err.println("expected " + wanted);
        System.exit(2);
    }
}
