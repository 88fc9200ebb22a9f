package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Published vectors of what CURVE computes with, for each library. */
@ParameterizedClass
@MethodSource("dev.zmtp.security.CurveLibraries#all")
class CurvePrimitivesTest {

    private static final String SHARED = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";

    @Parameter
    private CurvePrimitives primitives;

    private String agreed(String secretKey, String publicKey) {
        byte[] agreed = new byte[32];
        assertThat(primitives.agree(Hex.bytes(secretKey), Hex.bytes(publicKey), agreed))
                .isTrue();
        return ByteBufUtil.hexDump(agreed);
    }

    /** RFC 7748, section 6.1. */
    @ParameterizedTest
    @CsvSource({
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a,"
                + "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb,"
                + "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    })
    void aPublicKeyIsThatOfTheRfc(String secretKey, String publicKey) {
        assertThat(ByteBufUtil.hexDump(primitives.publicKey(Hex.bytes(secretKey))))
                .isEqualTo(publicKey);
    }

    /** RFC 7748, sections 5.2 and 6.1. */
    @ParameterizedTest
    @CsvSource({
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4,"
                + "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c,"
                + "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d,"
                + "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493,"
                + "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a,"
                + "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f," + SHARED
    })
    void whatTwoKeysAgreeOnIsThatOfTheRfc(String secretKey, String publicKey, String expected) {
        assertThat(agreed(secretKey, publicKey)).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("dev.zmtp.security.LowOrderKeys#all")
    void withAKeyOfLowOrderNothingIsAgreedOn(String publicKey) {
        assertThat(primitives.agree(Hex.bytes("03*32"), Hex.bytes(publicKey), new byte[32]))
                .isFalse();
    }

    /** "Cryptography in NaCl", section 8: the first key. */
    @Test
    void aDerivedKeyIsThatOfNaCl() {
        assertThat(ByteBufUtil.hexDump(primitives.derive(Hex.bytes(SHARED), new byte[16])))
                .isEqualTo("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
    }

    /** "Cryptography in NaCl", section 10: a box of 131 bytes. */
    @Test
    void aBoxIsThatOfNaCl() {
        String plain = """
                be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01
                233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd
                4924ca1c60902e52f0a089bc76897040e082f937763848645e0705
                """;
        String box = """
                f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c
                98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfea
                bd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5
                """;
        byte[] key = primitives.derive(Hex.bytes(SHARED), new byte[16]);
        SecretBox boxes = new SecretBox(primitives, key, Hex.bytes("69696ee955b62b73cd62bda875fc73d6"));
        ByteBuf data = Unpooled.wrappedBuffer(Hex.bytes("00*16 " + plain));
        boxes.seal(0x8219e0036b7a0b37L, data, 16, 131);
        assertThat(ByteBufUtil.hexDump(data)).isEqualTo(Hex.of(box));
    }

    @Test
    void allLibrariesComputeTheSame() {
        Random random = new Random(7748);
        CurvePrimitives other = new BouncyCastle();
        for (int i = 0; i < 50; i++) {
            byte[] secretKey = new byte[32];
            byte[] point = new byte[32]; // any 32 bytes are one
            byte[] prefix = new byte[16];
            random.nextBytes(secretKey);
            random.nextBytes(point);
            random.nextBytes(prefix);
            byte[] agreed = new byte[32];
            byte[] expected = new byte[32];
            assertThat(primitives.publicKey(secretKey)).isEqualTo(other.publicKey(secretKey));
            assertThat(primitives.agree(secretKey, point, agreed)).isEqualTo(other.agree(secretKey, point, expected));
            assertThat(agreed).isEqualTo(expected);
            assertThat(primitives.derive(secretKey, prefix)).isEqualTo(other.derive(secretKey, prefix));
        }
    }
}
