/** Largest body of a REST request, in bytes, before and after it is merged with its template (RATE-6). */
export const MAX_REST_BODY_BYTES = 102_400
