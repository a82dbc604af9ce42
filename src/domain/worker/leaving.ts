import type { EndpointImpact } from '../endpoint/impact.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { idlePeriodMs } from './scaling.ts'

/**
 * Times at which idle workers leave, by their id, as far as time alone decides it (WHY-15): no job is queued, there are more workers than
 * workers.min, and the longest idle leave first. Pure.
 */
export function leavingTimes({ type, scaling, workers }: EndpointConfig, impact: EndpointImpact): [string, number][] {
  if (impact.queued > 0) return []
  const periodMs = idlePeriodMs({ policy: scaling, isBalanced: type === 'LOAD_BALANCER', idleTimeoutMs: workers.idleTimeoutSeconds * 1000 })
  const idle = impact.workers.flatMap(({ id, idleSinceMs }): [string, number][] =>
    idleSinceMs === null ? [] : [[id, idleSinceMs + periodMs]],
  )
  return idle.toSorted(([, a], [, b]) => a - b).slice(0, Math.max(0, impact.workers.length - workers.min))
}
