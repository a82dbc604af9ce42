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
  /** Told of every pod whose report was passed on, before the report counts as taken. */
  podChanged(hostId: string, podId: string, state: WorkloadReport['state']): Promise<void>
  /** Last sign of life of a host that is silent now; null while it is heard of. */
  silentSinceMs(): number | null
}

/** Passes what is known of workloads on to their owners. */
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
   * Reports of the agent. Returns only once every owner has been told; the agent repeats what was not. One owner that cannot be told must
   * not keep the reports of the others, so the failure comes at the end.
   */
  async passOn(hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
    let failure: unknown = null
    const failed = new Set<string>()
    for (const report of reports) {
      // What came later is not told before what came earlier: its number would make the earlier one old news.
      if (failed.has(report.workloadId)) continue
      try {
        await this.passOnOne(hostId, report)
      } catch (error) {
        failure = error
        failed.add(report.workloadId)
        logEvent('warn', 'a report could not be passed on', { hostId, workloadId: report.workloadId, error })
      }
    }
    if (reports.some(({ state }) => state === 'gone' || state === 'exited')) this.ctx.waitUntil(announceCapacity(this.env))
    if (failure !== null) throw failure
  }

  /** The machine was removed: nothing of it will ever be heard again. What ran there is charged to its last sign of life. */
  async giveUpAll(hostId: string, lastHeardMs: number): Promise<void> {
    // Above every number that the machine may have sent.
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
    if (row.workload.kind === 'pod') await this.tellPod(hostId, row.ownerId, report)
    else await this.tellEndpoint(hostId, row.ownerId, report)
    this.ctx.storage.transactionSync(() => {
      if (report.state === 'gone') this.store.remove(report.workloadId)
      else this.store.record(report)
    })
  }

  private async tellEndpoint(hostId: string, endpointId: string, report: WorkloadReport): Promise<void> {
    await this.chargeWorker(hostId, report)
    await endpointStub(this.env, asPlane('endpoint', endpointId, 'a host says so')).workloadReport(report)
  }

  // Nothing that a host does is later than now, and what a silent one says is charged to its last sign of life (BIL-10, BIL-18).
  private async chargeWorker(hostId: string, { workloadId, state, at }: WorkloadReport): Promise<void> {
    const db = openDatabase(this.env.DB)
    const nowMs = Date.now()
    const endedAtMs = Math.min(at, nowMs, this.deps.silentSinceMs() ?? nowMs)
    if (state === 'running') await beginWorkerCharge(db, workloadId, hostId, { atMs: at, nowMs })
    else if (state === 'gone') await releaseCapacity(db, workloadId, hostId, endedAtMs)
    else if (isDown(state)) await endWorkerCharge(db, workloadId, hostId, endedAtMs)
  }

  private async tellPod(hostId: string, podId: string, report: WorkloadReport): Promise<void> {
    const others = this.store.ownedBy(podId).filter(({ workload }) => workload.id !== report.workloadId)
    const areOthersDown = others.every(({ state }) => isDown(state))
    const source = { hostId, podId, isLast: others.length === 0, areOthersDown, silentSinceMs: this.deps.silentSinceMs() }
    await applyPodReport(this.env, source, report)
    await this.deps.podChanged(hostId, podId, report.state)
  }
}
