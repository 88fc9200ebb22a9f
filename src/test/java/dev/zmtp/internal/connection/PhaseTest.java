package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.CodecPair;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One method enters each phase, and logs it. */
class PhaseTest {

    @Test
    void phasesAreEnteredInOneMethod() {
        List<String> writers = new ClassFileImporter()
                .importClasses(Connection.class).get(Connection.class).getField("phase").getAccessesToSelf().stream()
                        .filter(access -> access.getAccessType() == JavaFieldAccess.AccessType.SET)
                        .map(access -> access.getOrigin().getName())
                        .distinct()
                        .toList();
        assertThat(writers).containsExactlyInAnyOrder("<init>", "enter");
    }

    @Test
    void everyChangeOfPhaseIsLogged() {
        List<String> logged;
        try (CapturedLog log = new CapturedLog(ZMTPCodec.class.getName());
                CodecPair peers = new CodecPair(ZMTPCodec.of(ZMTPSocketType.PUSH), ZMTPCodec.of(ZMTPSocketType.PULL))) {
            peers.exchange();
            peers.left.channel.close();
            peers.exchange();
            logged = log.lines;
        }
        assertThat(logged)
                .anyMatch(line -> line.endsWith("] not connected -> greeting, nothing received"))
                .anyMatch(line -> line.endsWith("] greeting -> mechanism NULL"))
                .anyMatch(line -> line.endsWith("] mechanism NULL -> traffic in ZMTP31"))
                .anyMatch(line -> line.endsWith("] traffic in ZMTP31 -> closed"));
    }
}
