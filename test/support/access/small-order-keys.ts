const Y = {
  identity: `01${'00'.repeat(31)}`,
  order2: `ec${'ff'.repeat(30)}7f`,
  order4: '00'.repeat(32),
  order8: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  order8too: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  /** Second encodings of the y of order 4 and of the identity: p and p + 1. */
  order4Long: `ed${'ff'.repeat(30)}7f`,
  identityLong: `ee${'ff'.repeat(30)}7f`,
}

/** With the sign bit of x set, which encodes another point or a second encoding of it. */
function negative(hex: string): string {
  return hex.slice(0, -2) + (Number.parseInt(hex.slice(-2), 16) | 0x80).toString(16)
}

/** The eight Ed25519 points of small order in every encoding, hexadecimal, least significant byte first. */
export const SMALL_ORDER_KEYS: readonly string[] = Object.values(Y).flatMap((hex) => [hex, negative(hex)])
