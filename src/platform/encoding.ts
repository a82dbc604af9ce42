/** Conversions between bytes and text. */

/** Encodes bytes in lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Most bytes passed as arguments of one call. */
const CHUNK_BYTES = 8192

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES))
  return btoa(binary)
}

/** Base64url without padding, as in URLs and tokens. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes base64 or base64url, padded or not. Throws for any other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  // A loop, because a page of pods decodes megabytes of sealed env; a callback per byte took ten times as long.
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}
