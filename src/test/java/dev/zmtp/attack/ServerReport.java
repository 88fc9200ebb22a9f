package dev.zmtp.attack;

/**
 * What a server says about itself.
 *
 * @param heap bytes of live objects
 * @param direct bytes of direct memory
 * @param loopsAnswer whether each event loop does what it is asked
 */
record ServerReport(long heap, long direct, boolean loopsAnswer) {

    static ServerReport parse(String line) {
        String[] words = line.split(" ", -1);
        return new ServerReport(Long.parseLong(words[0]), Long.parseLong(words[1]), Boolean.parseBoolean(words[2]));
    }

    /** One line, for {@link #parse}. */
    @Override
    public String toString() {
        return heap + " " + direct + " " + loopsAnswer;
    }
}
