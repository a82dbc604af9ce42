/** Public limits of requests to load-balancing endpoints. */

/** Largest body of a request, bytes (LB-11). */
export const MAX_SERVED_BODY_BYTES = 100 * 2 ** 20
/** Longest wait of a request for a worker, milliseconds (LB-6). */
export const SERVED_WAIT_MS = 120_000
