package dev.zmtp.cli;

import dev.zmtp.security.ZMTPCurveKeyPair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Writes a new key pair for CURVE. */
@Command(
        name = "keygen",
        mixinStandardHelpOptions = true,
        description = "Writes a new CURVE key pair to NAME.key and NAME.key_secret, and prints the public key.",
        footerHeading = "%nExamples:%n",
        footer = "  zmtp keygen server")
final class KeygenCommand implements Callable<Integer> {

    private final Console console;

    @Parameters(
            paramLabel = "NAME",
            description = "Name of both files, which must not exist. Only the owner can read the secret.")
    private String name = "";

    KeygenCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        Path publicFile = Path.of(name + ".key");
        if (Files.exists(publicFile)) {
            throw CliException.failed("the file exists: " + publicFile);
        }
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        try {
            Path secretFile = Path.of(name + ".key_secret");
            keys.save(secretFile);
            savePublic(keys, publicFile, secretFile);
            console.printLine(keys.publicKey().z85());
        } finally {
            keys.destroy();
        }
        return ExitCode.OK;
    }

    /** Half of a pair would be of no use, and keep the next attempt from its name. */
    private static void savePublic(ZMTPCurveKeyPair keys, Path publicFile, Path secretFile) throws IOException {
        try {
            keys.publicKey().save(publicFile);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(secretFile);
            throw e;
        }
    }
}
