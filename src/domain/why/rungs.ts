/** Steps of the changes that a search tries. Pure. */

/** Sizes of one ladder: what hosts have is all that a smaller one can fit. */
const MAX_SIZES = 8

/** Smaller counts than that, the largest first. */
export function fewer(count: number): number[] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, index) => count - 1 - index)
}

/** Of what hosts have, the whole sizes below what is asked, and no smaller than `least`, the largest first. */
export function lowerSizes(available: readonly number[], asked: number, least = 1): number[] {
  const sizes = distinct(available.map(Math.floor)).filter((size) => size >= least && size < asked)
  const falling = sizes.sort((a, b) => b - a)
  // The smallest stays, because where it does not fit none does.
  return falling.length > MAX_SIZES ? [...falling.slice(0, MAX_SIZES - 1), ...falling.slice(-1)] : falling
}

/** Each once, in order. */
export function distinct<Value extends string | number>(values: readonly Value[]): Value[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : 1))
}
