import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import { forgetWorker } from '../../durable-objects/endpoint/effects/worker-effects.ts'
import type { Worker } from '../domain/worker/worker.ts'
import type { WorkloadReport } from '../host-protocol/messages.ts'
import type { Effects } from './effects.ts'
import { endLeases, failWorker } from './transitions.ts'

/** Applies what a host reports about a worker's container, inside a transaction. */
export function applyWorkloadReport(core: EndpointCore, report: WorkloadReport, effects: Effects): void {
  const worker = core.workers.get(report.workloadId)
  if (!worker) return
  effects.scale = true
  switch (report.state) {
    case 'pulling':
      if (worker.phase === 'STARTING') core.workers.save({ ...worker, reason: 'pulling the image' })
      return
    case 'starting':
      if (worker.phase === 'STARTING') core.workers.save({ ...worker, reason: 'starting the container' })
      return
    case 'running':
      // Also while PLACING: the host may be faster than the answer to the placement.
      if (worker.phase === 'STARTING' || worker.phase === 'PLACING') {
        core.workers.save({ ...worker, startedAtMs: core.now(), reason: 'waiting for its first take' })
      }
      return
    case 'exited':
    case 'error':
      containerEnded(core, worker, endReason(report), effects)
      return
    case 'gone':
      containerGone(core, worker, effects)
      return
    default:
      report.state satisfies never
  }
}

function endReason(report: WorkloadReport): string {
  if (report.reason) return report.reason
  return report.exitCode === null ? 'the container ended' : `the container exited with code ${report.exitCode}`
}

// WRK-24: the container's end is the worker's end, whatever pings still arrive.
function containerEnded(core: EndpointCore, worker: Worker, reason: string, effects: Effects): void {
  if (worker.phase === 'FAILED') return
  if (worker.phase === 'DRAINING') {
    endLeases(core, worker.id, 'its worker was stopped by the platform', core.now(), 'acknowledged', effects)
    return
  }
  failWorker(core, worker, reason, core.now(), effects)
}

function containerGone(core: EndpointCore, worker: Worker, effects: Effects): void {
  containerEnded(core, worker, 'its container disappeared from the host', effects)
  const now = core.workers.get(worker.id)
  if (now) forgetWorker(core, now, effects)
}
