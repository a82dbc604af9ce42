const CONTINUATION_MASK = 0xc0
const CONTINUATION = 0x80

/** Splits a text into pieces of at most `maxBytes` bytes of UTF-8 without splitting a character; an empty text has no pieces. */
export function splitText(text: string, maxBytes: number): string[] {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const pieces: string[] = []
  let from = 0
  while (from < bytes.byteLength) {
    const to = endOfPiece(bytes, from + maxBytes)
    pieces.push(decoder.decode(bytes.subarray(from, to)))
    from = to
  }
  return pieces
}

/** Last position up to `at` where a character begins. */
function endOfPiece(bytes: Uint8Array, at: number): number {
  if (at >= bytes.byteLength) return bytes.byteLength
  let end = at
  while (((bytes[end] ?? 0) & CONTINUATION_MASK) === CONTINUATION) end -= 1
  return end
}
