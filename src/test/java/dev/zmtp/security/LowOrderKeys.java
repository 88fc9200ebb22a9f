package dev.zmtp.security;

import java.util.stream.Stream;

/** The public keys of Curve25519 of low order, and other encodings of them. Anyone knows what is agreed on with one. */
final class LowOrderKeys {

    private LowOrderKeys() {}

    /** All of them, in hex. */
    static Stream<String> all() {
        return Stream.of(
                "00*32",
                "01 00*31",
                "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                "ec ff*30 7f",
                "ed ff*30 7f",
                "ee ff*30 7f",
                "00*31 80",
                "01 00*30 80",
                "ec ff*31",
                "ed ff*31",
                "ee ff*31");
    }
}
