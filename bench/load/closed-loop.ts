import { findOnPath } from '../find-on-path.ts'
import { runAutocannon } from './autocannon.ts'
import type { LoadResult, Target } from './target.ts'
import { runWrk } from './wrk.ts'

const wrk = process.env.BENCH_LOAD === 'autocannon' ? undefined : findOnPath('wrk')

/** The load generator: `wrk` if the machine has it. */
export const LOAD_GENERATOR = wrk === undefined ? 'autocannon' : 'wrk'

/**
 * Returns the requests per second of a closed loop, which sends each request as soon as the previous one is answered. Throws if any request
 * fails.
 */
export async function measureRate(target: Target, seconds: number): Promise<number> {
  return (await load(target, seconds)).perSecond
}

/** Returns the number of requests that the same loop sends. Throws if any request fails. */
export async function countRequests(target: Target, seconds: number): Promise<number> {
  return (await load(target, seconds)).requests
}

async function load(target: Target, seconds: number): Promise<LoadResult> {
  const result = wrk === undefined ? await runAutocannon(target, seconds) : await runWrk(wrk, target, seconds)
  if (result.failures > 0) throw new Error(`${target.method} ${target.url}: ${result.failures} of ${result.requests} requests failed`)
  return result
}
