package dev.zmtp.interop;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.provider.Arguments;

/** The cases of parameterized tests. */
final class Every {

    private Every() {}

    /** Each value of the first with each of the second, and so on; the last changes fastest. */
    static List<Arguments> combinationOf(Object[]... values) {
        List<Object[]> all = new ArrayList<>();
        all.add(new Object[0]);
        for (Object[] next : values) {
            List<Object[]> longer = new ArrayList<>();
            for (Object[] start : all) {
                for (Object value : next) {
                    Object[] one = new Object[start.length + 1];
                    System.arraycopy(start, 0, one, 0, start.length);
                    one[start.length] = value;
                    longer.add(one);
                }
            }
            all = longer;
        }
        return all.stream().map(Arguments::of).toList();
    }
}
