import { findOnPath } from '../find-on-path.ts'
import { runAutocannon } from './autocannon.ts'
import type { Target } from './target.ts'
import { runWrk } from './wrk.ts'

const wrk = process.env.BENCH_LOAD === 'autocannon' ? undefined : findOnPath('wrk')

/** What makes the load: `wrk` where the machine has it. */
export const LOAD_GENERATOR = wrk === undefined ? 'autocannon' : 'wrk'

/** Requests per second of a target that is asked again as soon as it has answered. Any answer but a success voids the measurement. */
export async function measureRate(target: Target, seconds: number): Promise<number> {
  const { perSecond, requests, failures } = wrk === undefined ? await runAutocannon(target, seconds) : await runWrk(wrk, target, seconds)
  if (failures > 0) throw new Error(`${target.method} ${target.url}: ${failures} of ${requests} requests failed`)
  return perSecond
}
