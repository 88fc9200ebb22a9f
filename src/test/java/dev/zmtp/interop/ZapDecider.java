package dev.zmtp.interop;

/** What a ZAP handler inside another implementation does with a request. Called on a thread of its own. */
@FunctionalInterface
public interface ZapDecider {

    /** Decides. */
    ZapReply decide(ZapRequest request);
}
