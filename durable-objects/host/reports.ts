import { beginWorkerCharge, endWorkerCharge } from '../../src/db/billing/charges.ts'
import { openDatabase } from '../../src/db/client.ts'
import { releaseCapacity } from '../../src/db/hosts/capacity.ts'
import { announceCapacity } from '../../src/effects/capacity.ts'
import { applyPodReport, isDown } from '../../src/effects/pods/pod-reports.ts'
import type { Env } from '../../src/env.ts'
import type { WorkloadReport } from '../../src/host-protocol/messages.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../src/objects/stubs.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { WorkloadStore } from './workload-store.ts'

export interface HostReportsDeps {
  /** Called for every pod whose report was passed on, before the report counts as accepted. */
  podReported(hostId: string, podId: string, state: WorkloadReport['state']): Promise<void>
  /** Last sign of life of a host that is silent; null while it beats. */
  silentSinceMs(): number | null
}

/** Passes workload reports on to the workloads' owners. */
export class HostReports {
  private readonly ctx: DurableObjectState
  private readonly env: Env
  private readonly store: WorkloadStore
  private readonly deps: HostReportsDeps

  constructor(ctx: DurableObjectState, env: Env, store: WorkloadStore, deps: HostReportsDeps) {
    this.ctx = ctx
    this.env = env
    this.store = store
    this.deps = deps
  }

  /**
   * Passes on the agent's reports. Returns once every owner has its reports; the agent repeats failed ones. A failure for one owner is
   * thrown at the end, so that it does not block the reports of others.
   */
  async passOn(hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
    let failure: unknown = null
    const failed = new Set<string>()
    for (const report of reports) {
      // A later report is not passed on before a failed earlier one: its sequence number would make the earlier one obsolete.
      if (failed.has(report.workloadId)) continue
      try {
        await this.passOnOne(hostId, report)
      } catch (error) {
        failure = error
        failed.add(report.workloadId)
        logEvent('warn', 'a report could not be passed on', { hostId, workloadId: report.workloadId, error })
      }
    }
    if (reports.some(({ state }) => state === 'gone' || state === 'exited')) this.ctx.waitUntil(announceCapacity(this.env, hostId))
    if (failure !== null) throw failure
  }

  /** Reports all workloads of a removed host as gone, because it sends no more reports. Charges end at its last sign of life. */
  async giveUpAll(hostId: string, lastHeardMs: number): Promise<void> {
    // Higher than every sequence number that the host may have sent.
    const last = {
      state: 'gone' as const,
      exitCode: null,
      reason: 'its host was removed',
      endedByHost: true,
      at: lastHeardMs,
      sequence: Number.POSITIVE_INFINITY,
    }
    await this.passOn(
      hostId,
      this.store.ids().map((id) => ({ ...last, workloadId: id })),
    )
  }

  private async passOnOne(hostId: string, report: WorkloadReport): Promise<void> {
    const row = this.store.get(report.workloadId)
    if (!row || report.sequence <= row.sequence) return
    if (row.workload.kind === 'pod') await this.notifyPod(hostId, row.ownerId, report)
    else await this.notifyEndpoint(hostId, row.ownerId, report)
    this.ctx.storage.transactionSync(() => {
      if (report.state === 'gone') this.store.remove(report.workloadId)
      else this.store.record(report)
    })
  }

  private async notifyEndpoint(hostId: string, endpointId: string, report: WorkloadReport): Promise<void> {
    await this.chargeWorker(hostId, report)
    await endpointStub(this.env, asPlane('endpoint', endpointId, 'a host reports it')).workloadReport(report)
  }

  // Times in reports are capped at the present, and those of a silent host at its last sign of life (BIL-10, BIL-18).
  private async chargeWorker(hostId: string, { workloadId, state, at }: WorkloadReport): Promise<void> {
    const db = openDatabase(this.env.DB)
    const nowMs = Date.now()
    const endedAtMs = Math.min(at, nowMs, this.deps.silentSinceMs() ?? nowMs)
    if (state === 'running') await beginWorkerCharge(db, workloadId, hostId, { atMs: at, nowMs })
    else if (state === 'gone') await releaseCapacity(db, workloadId, hostId, endedAtMs)
    else if (isDown(state)) await endWorkerCharge(db, workloadId, hostId, endedAtMs)
  }

  private async notifyPod(hostId: string, podId: string, report: WorkloadReport): Promise<void> {
    const others = this.store.ownedBy(podId).filter(({ workload }) => workload.id !== report.workloadId)
    const areOthersDown = others.every(({ state }) => isDown(state))
    const source = { hostId, podId, isLast: others.length === 0, areOthersDown, silentSinceMs: this.deps.silentSinceMs() }
    await applyPodReport(this.env, source, report)
    await this.deps.podReported(hostId, podId, report.state)
  }
}
