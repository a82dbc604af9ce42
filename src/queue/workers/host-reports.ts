import type { Worker } from '../../domain/worker/worker.ts'
import type { WorkloadReport } from '../../host-protocol/messages.ts'
import { crashWorker, endLeases, failWorker, HOST_LOST, HOST_LOST_DRAINING, recordWorkerGone, STOPPED } from '../transitions.ts'
import type { Tx } from '../tx.ts'
import { applyWorkerEvent, removeOvercomeFailures } from '../worker-rows.ts'

/** Applies a host's report on a worker's container. Repeated and late reports are harmless. */
export function applyWorkloadReport(tx: Tx, report: WorkloadReport): void {
  const worker = tx.state.workers.get(report.workloadId)
  if (!worker) return
  tx.effects.scale = true
  switch (report.state) {
    case 'pulling':
      applyWorkerEvent(tx, worker.id, { kind: 'progress', reason: 'pulling the image' })
      return
    case 'starting':
      applyWorkerEvent(tx, worker.id, { kind: 'progress', reason: 'starting the container' })
      return
    case 'running':
      applyRunning(tx, worker, report)
      return
    case 'exited':
    case 'error':
      containerEnded(tx, worker, report)
      return
    case 'gone':
      containerGone(tx, worker, report)
      return
    default:
      report.state satisfies never
  }
}

// A report with a health status does not announce a start, unless no report of the start has arrived.
function applyRunning(tx: Tx, worker: Worker, { health, reason }: WorkloadReport): void {
  if (health === undefined || worker.startedAtMs === null) applyWorkerEvent(tx, worker.id, { kind: 'running' })
  if (health === 'healthy') {
    applyWorkerEvent(tx, worker.id, { kind: 'healthy' })
    if (worker.phase === 'STARTING') removeOvercomeFailures(tx)
  } else if (health !== undefined) {
    applyWorkerEvent(tx, worker.id, { kind: 'unhealthy', reason: reason ?? 'its health check does not return 200' })
  }
}

function endReason(report: WorkloadReport): string {
  if (report.reason) return report.reason
  return report.exitCode === null ? 'the container ended' : `the container exited with code ${report.exitCode}`
}

// WRK-24: the end of the container is the end of the worker, even if pings still arrive.
function containerEnded(tx: Tx, worker: Worker, report: WorkloadReport): void {
  if (worker.phase === 'FAILED') return
  const isHosts = report.endedByHost === true
  const reason = endReason(report)
  if (worker.phase === 'DRAINING') {
    if (isHosts) endLeases(tx, worker.id, reason, HOST_LOST_DRAINING)
    else endLeases(tx, worker.id, 'its worker was stopped by the platform', STOPPED)
  } else if (isHosts) failWorker(tx, worker, reason, HOST_LOST)
  else crashWorker(tx, worker, reason)
}

// When the host does not know how a container ended, the host has lost it.
function containerGone(tx: Tx, worker: Worker, report: WorkloadReport): void {
  const isKnown = report.exitCode !== null || report.reason !== null
  const lost = { ...report, endedByHost: true, reason: 'its container disappeared from the host' }
  containerEnded(tx, worker, isKnown ? report : lost)
  recordWorkerGone(tx, worker)
}
