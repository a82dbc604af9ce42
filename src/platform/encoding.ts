/** Bytes as text and back. */

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Bytes that go into one call as its arguments. */
const CHUNK_BYTES = 8192

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES))
  return btoa(binary)
}

/** Without padding, as it stands in URLs and tokens. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Reads either alphabet, padded or not. Throws for a text that is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  // A loop, because a page of pods opens megabytes of sealed env: a callback a byte took ten times as long.
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}
