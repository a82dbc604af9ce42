/**
 * Bytes of a body as its sender announced them; null when it did not. Of a chunked body a `Content-Length` says nothing (RFC 9112, 6.3),
 * but the runtime hands the header on, so believing it would let a body of any size pass as a small one.
 */
export function announcedBytes(headers: { get: (name: string) => string | null }): number | null {
  const length = headers.get('content-length')
  if (length === null || headers.get('transfer-encoding') !== null) return null
  return /^\d{1,15}$/.test(length) ? Number(length) : null
}
