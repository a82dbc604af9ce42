const KEY_BYTES = 32
const SIGN_BIT = 0x80

/** The y coordinates of the eight points whose order divides 8, least byte first; points that differ only in the sign of x share one. */
const SMALL_ORDER: readonly string[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]

/** The reason why an Ed25519 key is unfit to authenticate its holder; null: it is fit (HOST-79). */
export function faultOfPublicKey(bytes: Uint8Array): string | null {
  if (bytes.length !== KEY_BYTES) return `has ${bytes.length} bytes instead of ${KEY_BYTES}`
  const y = Array.from(bytes, (byte, index) => (index === KEY_BYTES - 1 ? byte & ~SIGN_BIT : byte))
  if (isNotReduced(y)) return 'is not written in the one way in which a point is'
  const hex = y.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return SMALL_ORDER.includes(hex) ? 'is a point of small order, for which anyone can sign' : null
}

/** Whether y is 2^255 - 19 or more: a second encoding of a small number, which may be a point of small order. */
function isNotReduced(y: readonly number[]): boolean {
  const [least = 0] = y
  return least >= 0xed && y.slice(1, -1).every((byte) => byte === 0xff) && y.at(-1) === 0x7f
}
