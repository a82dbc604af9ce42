/**
 * Interval of the checks of an open terminal or connection, and the maximum age of a cached decision about its key, milliseconds: together
 * less than a minute (NET-9). Tests shorten both.
 */
export const INGRESS_CHECKS = { everyMs: 10_000, maxAgeMs: 45_000 }
