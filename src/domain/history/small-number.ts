// A number in 16 bits: sixteenths, exact below 128 and within 1/2048 of the value above, up to 2^60. It takes half the space of a 32-bit
// float.

const PER_UNIT = 16
const MANTISSA_BITS = 10
const MANTISSA = 2 ** MANTISSA_BITS
/** Stands for NaN. */
const ABSENT = 0xff_ff

/** Packs a number. NaN stays NaN; a number below zero becomes zero. */
export function packNumber(value: number): number {
  if (Number.isNaN(value)) return ABSENT
  const sixteenths = Math.max(0, value * PER_UNIT)
  if (Math.round(sixteenths) < 2 * MANTISSA) return Math.round(sixteenths)
  // Rounds once: a number that was rounded before could be off by up to 3/4 of the last bit.
  const shift = Math.floor(Math.log2(sixteenths)) - MANTISSA_BITS
  const rounded = Math.round(sixteenths / 2 ** shift)
  // Rounding up may reach the next power of two; the sum then carries into the exponent.
  return Math.min(ABSENT - 1, shift * MANTISSA + rounded)
}

/** Inverse of `packNumber`, up to its rounding; NaN for an absent value. */
export function unpackNumber(packed: number): number {
  if (packed === ABSENT) return Number.NaN
  const exponent = Math.floor(packed / MANTISSA)
  if (exponent < 2) return packed / PER_UNIT
  return ((MANTISSA + (packed % MANTISSA)) * 2 ** (exponent - 1)) / PER_UNIT
}
