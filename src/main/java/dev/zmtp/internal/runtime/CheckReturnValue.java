package dev.zmtp.internal.runtime;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method whose result reports whether the argument was accepted. Ignoring the result would lose a message or a
 * place, so the compiler's checks, which recognize this annotation by name, reject that.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface CheckReturnValue {}
