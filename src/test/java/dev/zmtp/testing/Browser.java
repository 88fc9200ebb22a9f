package dev.zmtp.testing;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A headless Chromium with one page, which is looked at with the protocol of its developer tools. */
public final class Browser implements AutoCloseable {

    private static final String PROGRAM = "chromium";
    private static final int PATIENCE_SECONDS = 30;

    private final Process process;
    private final WebSocket tools;
    private final BlockingQueue<JsonObject> answers = new LinkedBlockingQueue<>();
    private int calls;

    /** Whether the browser is installed. */
    static boolean isThere() {
        return Programs.hasProgram(PROGRAM);
    }

    /**
     * Opens a page.
     *
     * @param profile an empty directory
     */
    public Browser(Path profile, String url) throws IOException, InterruptedException {
        process = new ProcessBuilder(
                        PROGRAM,
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--ignore-certificate-errors",
                        "--user-data-dir=" + profile,
                        "--remote-debugging-port=0",
                        url)
                .redirectErrorStream(true)
                .start();
        tools = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(page(port())), new Answers())
                .join();
    }

    /** Returns the port of the tools, which the browser prints when it listens there. */
    private int port() throws IOException {
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("DevTools listening on ")) {
                return URI.create(line.substring(line.indexOf("ws://"))).getPort();
            }
        }
        throw new IOException(PROGRAM + " has ended");
    }

    /** Returns the endpoint of the page's tools, which exists a moment after the port. */
    private static String page(int port) throws IOException, InterruptedException {
        HttpRequest list = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json"))
                .build();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < end) {
            String pages = HttpClient.newHttpClient()
                    .send(list, HttpResponse.BodyHandlers.ofString())
                    .body();
            for (JsonElement each : JsonParser.parseString(pages).getAsJsonArray()) {
                JsonObject page = each.getAsJsonObject();
                if (page.get("type").getAsString().equals("page")) {
                    return page.get("webSocketDebuggerUrl").getAsString();
                }
            }
            Thread.sleep(20);
        }
        throw new IOException("no page of " + PROGRAM);
    }

    /** Returns the answer, which has a result or an error. */
    private JsonObject call(String method, JsonObject parameters) throws InterruptedException {
        JsonObject call = new JsonObject();
        call.addProperty("id", ++calls);
        call.addProperty("method", method);
        call.add("params", parameters);
        tools.sendText(call.toString(), true).join();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            JsonObject answer = answers.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (answer == null) {
                throw new AssertionError("answer of " + PROGRAM + ": none (expected: one)");
            }
            if (answer.has("id") && answer.get("id").getAsInt() == calls) {
                return answer;
            }
        }
    }

    /** Returns the text that the page shows, which is empty until the page is loaded. */
    public String text() throws InterruptedException {
        JsonObject parameters = new JsonObject();
        parameters.addProperty("expression", "document.body ? document.body.innerText : ''");
        JsonObject result = call("Runtime.evaluate", parameters).getAsJsonObject("result");
        return result == null
                ? ""
                : result.getAsJsonObject("result").get("value").getAsString();
    }

    /** Returns a picture of the page as PNG, with this size in pixels. */
    public byte[] picture(int width, int height) throws InterruptedException {
        JsonObject screen = new JsonObject();
        screen.addProperty("width", width);
        screen.addProperty("height", height);
        screen.addProperty("deviceScaleFactor", 1);
        screen.addProperty("mobile", false);
        call("Emulation.setDeviceMetricsOverride", screen);
        String data = call("Page.captureScreenshot", new JsonObject())
                .getAsJsonObject("result")
                .get("data")
                .getAsString();
        return Base64.getDecoder().decode(data);
    }

    private final class Answers implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                answers.add(JsonParser.parseString(text.toString()).getAsJsonObject());
                text.setLength(0);
            }
            socket.request(1);
            return null;
        }
    }

    @Override
    public void close() {
        tools.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
