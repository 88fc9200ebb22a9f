package dev.zmtp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sentences of a Javadoc comment or a page, without code, tables and markup. */
record Prose(String source, String text) {

    private static final Pattern COMMENT = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("[A-Za-z][A-Za-z'-]*");

    /** Returns the comments of a Java file. */
    static List<Prose> ofJavadoc(String name, String java) {
        List<Prose> comments = new ArrayList<>();
        for (Matcher comment = COMMENT.matcher(java); comment.find(); ) {
            long line = java.substring(0, comment.start()).lines().count() + 1;
            comments.add(new Prose(name + ":" + line, withoutTags(comment.group(1))));
        }
        return comments;
    }

    private static String withoutTags(String comment) {
        return comment.replaceAll("(?m)^\\s*\\* ?", "")
                .replaceAll("(?s)<pre>.*?</pre>|<table.*?</table>", "")
                .replaceAll("\\{@(?:link|linkplain)\\s+[^\\s}]+(?:\\([^)]*\\))?\\s*}", "It")
                .replaceAll("\\{@(?:link|linkplain)\\s+\\S+?(?:\\([^)]*\\))?\\s+([^}]*)}", "$1")
                .replaceAll("\\{@\\w+[^}]*}", "It")
                .replaceAll("@(?:param|throws)\\s+\\S+|@\\w+", "\n\n")
                .replaceAll("<(?:p|li|ul|ol|/?h\\d)>", "\n\n")
                .replaceAll("<[^>]*>", " ");
    }

    /** Returns the sentences of a page in Markdown. */
    static Prose ofPage(Path page) throws IOException {
        return ofPage(page.toString(), Files.readString(page));
    }

    /** Returns the sentences of a page in Markdown. */
    static Prose ofPage(String name, String markdown) {
        return new Prose(
                name,
                markdown.replaceAll("(?ms)^\\s*```.*?^\\s*```", "")
                        .replaceAll("(?m)^ {4}.*$|^\\s*\\|.*$|^#.*$", "")
                        .replaceAll("`[^`\n]*`", "It")
                        .replaceAll("!?\\[([^\\]]*)]\\([^)]*\\)", "$1")
                        .replaceAll("<[^>]*>", " ")
                        .replaceAll("(?m)^\\s*[-*] ", "\n\n"));
    }

    /** Returns how many words there are. */
    long words() {
        return count(WORD);
    }

    /** Returns how often the pattern occurs. */
    long count(Pattern pattern) {
        return pattern.matcher(text).results().count();
    }
}
