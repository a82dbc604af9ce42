import { findOnPath } from '../find-on-path.ts'
import { runAutocannon } from './autocannon.ts'
import type { Target } from './target.ts'
import { runWrk } from './wrk.ts'

const wrk = process.env.BENCH_LOAD === 'autocannon' ? undefined : findOnPath('wrk')

/** The load generator: `wrk` if the machine has it. */
export const LOAD_GENERATOR = wrk === undefined ? 'autocannon' : 'wrk'

/**
 * Returns the requests per second of a closed loop, which sends each request as soon as the previous one is answered. Throws if any request
 * fails.
 */
export async function measureRate(target: Target, seconds: number): Promise<number> {
  const { perSecond, requests, failures } = wrk === undefined ? await runAutocannon(target, seconds) : await runWrk(wrk, target, seconds)
  if (failures > 0) throw new Error(`${target.method} ${target.url}: ${failures} of ${requests} requests failed`)
  return perSecond
}
