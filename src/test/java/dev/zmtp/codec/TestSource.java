package dev.zmtp.codec;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import dev.zmtp.testing.Failures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The source of a test, with everything of its class that it uses, and with what all classes use of {@link Failures}. */
final class TestSource {

    private static final Pattern WORD = Pattern.compile("\\w+");

    /** The members of each class that was asked about, by their names. */
    private static final Map<String, Map<String, String>> PARSED = new HashMap<>();

    private TestSource() {}

    static String of(Path tests, String type, String method) throws IOException {
        Map<String, String> members = new HashMap<>(members(tests, "Failures"));
        members.putAll(members(tests, type));
        StringBuilder source = new StringBuilder();
        Set<String> seen = new HashSet<>();
        Queue<String> open = new ArrayDeque<>(List.of(method));
        while (!open.isEmpty()) {
            String name = open.remove();
            String member = members.get(name);
            if (member != null && seen.add(name)) {
                source.append(member);
                WORD.matcher(member).results().forEach(word -> open.add(word.group()));
            }
        }
        return source.toString();
    }

    private static synchronized Map<String, String> members(Path tests, String type) throws IOException {
        Map<String, String> members = PARSED.get(type);
        if (members == null) {
            members = new HashMap<>();
            for (Tree member : parse(tests, type)) {
                members.merge(nameOf(member), member.toString(), String::concat);
            }
            PARSED.put(type, members);
        }
        return members;
    }

    private static String nameOf(Tree member) {
        if (member instanceof MethodTree method) {
            return method.getName().toString();
        }
        if (member instanceof VariableTree field) {
            return field.getName().toString();
        }
        return member instanceof ClassTree inner ? inner.getSimpleName().toString() : "";
    }

    private static List<Tree> parse(Path tests, String type) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Tree> members = new ArrayList<>();
        try (Stream<Path> files = Files.walk(tests);
                StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            List<Path> found =
                    files.filter(path -> path.endsWith(type + ".java")).toList();
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(found));
            for (CompilationUnitTree unit : task.parse()) {
                for (Tree declared : unit.getTypeDecls()) {
                    if (declared instanceof ClassTree outer) {
                        members.addAll(outer.getMembers());
                    }
                }
            }
        }
        return members;
    }
}
