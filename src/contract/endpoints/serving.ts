/** Requests to load-balancing endpoints: what is said of them in public. */

/** Largest body of a request (LB-11). */
export const MAX_SERVED_BODY_BYTES = 100 * 2 ** 20
/** How long a request waits for a worker (LB-6). */
export const SERVED_WAIT_MS = 120_000
