/**
 * Length of a body in bytes as its sender announced it; null when it did not. `Content-Length` does not apply to a chunked body (RFC 9112,
 * 6.3), but the runtime passes the header on; trusting it would let a body of any size pass as a small one.
 */
export function announcedBytes(headers: { get: (name: string) => string | null }): number | null {
  const length = headers.get('content-length')
  if (length === null || headers.get('transfer-encoding') !== null) return null
  return /^\d{1,15}$/.test(length) ? Number(length) : null
}
