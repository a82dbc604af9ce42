import { busyness } from '../../../support/runner/machine.ts'

/** All deadlines of workers are multiples of the ping interval. */
const QUICK_MS = 1_000
const MOST_MS = 4_000

/** The smallest ping interval in milliseconds with which a worker's pings are on time on a busy machine. */
export function quickPingMs(): number {
  return Math.min(MOST_MS, Math.round(QUICK_MS * busyness()))
}

/** Settings of a plane whose tests wait for deadlines of workers. */
export function quickPings(): { WORKER_PING_INTERVAL_MS: string } {
  return { WORKER_PING_INTERVAL_MS: String(quickPingMs()) }
}
