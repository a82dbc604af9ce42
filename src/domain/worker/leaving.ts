import type { EndpointConfig } from '../endpoint/record.ts'
import type { EndpointStake } from '../endpoint/stake.ts'
import { idlePeriodMs } from './scaling.ts'

/**
 * Times at which idle workers leave, by their id, as far as time alone decides it (WHY-15): no job is queued, there are more workers than
 * workers.min, and the longest idle leave first. Pure.
 */
export function leavingTimes({ type, scaling, workers }: EndpointConfig, stake: EndpointStake): [string, number][] {
  if (stake.queued > 0) return []
  const periodMs = idlePeriodMs({ policy: scaling, isBalanced: type === 'LOAD_BALANCER', idleTimeoutMs: workers.idleTimeoutSeconds * 1000 })
  const idle = stake.workers.flatMap(({ id, idleSinceMs }): [string, number][] =>
    idleSinceMs === null ? [] : [[id, idleSinceMs + periodMs]],
  )
  return idle.toSorted(([, a], [, b]) => a - b).slice(0, Math.max(0, stake.workers.length - workers.min))
}
