package dev.zmtp.migration;

/** What the programs with an encoder and a decoder of their own exchange: a sensor, its unit, and its samples. */
record Reading(String sensor, String unit, long samples, long sum) {}
