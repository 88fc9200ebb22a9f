package dev.zmtp.testing;

import java.lang.reflect.Executable;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each invocation of a test that has a parameter of the type {@link TestSockets} sockets of its own, and closes
 * them at its end. A parameterized test has that parameter after its arguments.
 *
 * <p>It is registered for all tests through {@code META-INF/services}.
 */
public final class TestSocketsParameter implements ParameterResolver, AfterTestExecutionCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(TestSocketsParameter.class);

    /** Only a test has them: after a failure before the test, nothing would close those of a method before each test. */
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Executable method = parameter.getDeclaringExecutable();
        return parameter.getParameter().getType() == TestSockets.class
                && context.getTestMethod().equals(Optional.of(method));
    }

    @Override
    public TestSockets resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(TestSockets.class, type -> new TestSockets(), TestSockets.class);
    }

    /**
     * Closes them, and fails the test if that fails. The store would do so too late: before the methods after each test
     * and before the checks for leaks and blocked event loops, all that belongs to the sockets must have ended.
     */
    @Override
    public void afterTestExecution(ExtensionContext context) {
        TestSockets sockets = context.getStore(NAMESPACE).remove(TestSockets.class, TestSockets.class);
        if (sockets != null) {
            sockets.close();
        }
    }
}
