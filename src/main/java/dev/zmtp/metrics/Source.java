package dev.zmtp.metrics;

import io.micrometer.core.instrument.Tags;

/** An object that has meters. */
interface Source {

    /** Returns the tag with the name of the object. */
    String tag();

    /** Returns the name of the meter that is registered first, and removed last. */
    String meter();

    /** Returns further tags of all meters. */
    default Tags tags() {
        return Tags.empty();
    }

    /** Registers the meters, which are removed when the object ends. */
    void register(Meters meters);
}
