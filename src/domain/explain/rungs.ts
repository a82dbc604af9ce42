import type { PlacementHost } from '../host/placement.ts'
import type { Ladder, Rung } from './search.ts'

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

/** Other data centers of these hosts, each beside those asked for. */
export function dataCenterLadder<Asked extends { dataCenterIds?: string[] | undefined }>(
  asked: readonly string[],
  hosts: readonly PlacementHost[],
): Ladder<Asked> {
  const others = distinct(hosts.map(({ dataCenterId }) => dataCenterId)).filter((id) => !asked.includes(id))
  const rungs = others.map((id): Rung<Asked> => {
    return { summary: `allow data center ${id} too`, apply: (body) => ({ ...body, dataCenterIds: [...asked, id] }) }
  })
  return { kind: 'DATA_CENTER', rungs }
}

/** Smaller container disks, down to what these free sizes hold, GB. */
export function diskLadder<Asked extends { disk?: number | undefined }>(available: readonly number[], askedGb: number): Ladder<Asked> {
  const rungs = lowerSizes(available, askedGb).map((gb): Rung<Asked> => {
    return { summary: `take ${gb} GB of container disk`, apply: (body) => ({ ...body, disk: gb }) }
  })
  return { kind: 'DISK', rungs }
}
