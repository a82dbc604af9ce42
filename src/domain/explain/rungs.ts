/** Steps of the changes that a search tries. Pure. */

/** Maximum number of sizes on one ladder. Only sizes that hosts offer are tried, because others fit no better. */
const MAX_SIZES = 8

/** Counts below `count`, the largest first. */
export function fewer(count: number): number[] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, index) => count - 1 - index)
}

/** Whole sizes that hosts offer, below `asked` and not below `least`, the largest first. */
export function lowerSizes(available: readonly number[], asked: number, least = 1): number[] {
  const sizes = distinct(available.map(Math.floor)).filter((size) => size >= least && size < asked)
  const falling = sizes.sort((a, b) => b - a)
  // The smallest size stays, because where it does not fit, no other does.
  return falling.length > MAX_SIZES ? [...falling.slice(0, MAX_SIZES - 1), ...falling.slice(-1)] : falling
}

/** Distinct values, sorted. */
export function distinct<Value extends string | number>(values: readonly Value[]): Value[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : 1))
}
