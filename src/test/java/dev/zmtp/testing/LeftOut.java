package dev.zmtp.testing;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestTag;
import org.junit.platform.launcher.PostDiscoveryFilter;

/**
 * Leaves out the tests that cannot run on this machine, by their tags: {@code java>=21}, {@code java<24}, {@code
 * linux}, and tools such as {@code tshark}. They are not reported as skipped, so that a skipped test is one that should
 * have run. One line says what is left out. {@code .ci/run} installs the tools, and says so with {@code
 * TEST_TOOLS=required}: then a test whose tool is missing fails.
 */
public final class LeftOut implements PostDiscoveryFilter {

    private static final Pattern JAVA = Pattern.compile("java(>=|<)([0-9]+)");
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    /** What {@code .ci/run} installs. */
    private static final Map<String, BooleanSupplier> TOOLS = Map.of(
            "tshark", () -> Programs.hasProgram("tshark"),
            "wireshark", () -> Programs.hasModule("@goodtools/wiregasm/dist/wiregasm.wasm"),
            "jszmq", () -> Programs.hasModule("jszmq"),
            "websockets", Programs::hasWebsockets,
            "chromium", Browser::isThere);

    private final int java;
    private final boolean isLinux;
    private final boolean hasTools;

    /** For the machine that it runs on. */
    public LeftOut() {
        this(
                Runtime.version().feature(),
                System.getProperty("os.name"),
                "required".equals(System.getenv("TEST_TOOLS")));
    }

    LeftOut(int java, String os, boolean hasTools) {
        this.java = java;
        this.isLinux = os.toLowerCase(Locale.ROOT).contains("linux");
        this.hasTools = hasTools;
    }

    @Override
    public FilterResult apply(TestDescriptor test) {
        for (TestTag tag : test.getTags()) {
            if (!runs(tag.getName())) {
                String line = "Left out: the tests that are tagged " + tag.getName() + ".";
                if (TOLD.add(line)) {
                    System.out.println(line);
                }
                return FilterResult.excluded(line);
            }
        }
        return FilterResult.included("nothing is missing");
    }

    /** Whether tests with this tag run here, as far as this class knows the tag. */
    boolean runs(String tag) {
        if (tag.equals("linux")) {
            return isLinux;
        }
        BooleanSupplier tool = TOOLS.get(tag);
        if (tool != null) {
            return hasTools || tool.getAsBoolean();
        }
        Matcher wanted = JAVA.matcher(tag);
        if (!wanted.matches()) {
            return true;
        }
        boolean isOlder = java < Integer.parseInt(wanted.group(2));
        return isOlder == wanted.group(1).equals("<");
    }
}
