package dev.zmtp.security;

/** Prints which library CURVE computes with, or why there is none. */
final class ChosenLibrary {

    private ChosenLibrary() {}

    /** Makes the choice. */
    public static void main(String[] args) {
        try {
            System.out.println(PrimitivesChoice.primitives());
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }
}
