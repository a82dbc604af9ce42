import { releaseCapacity } from '../../src/db/capacity.ts'
import { openDatabase } from '../../src/db/client.ts'
import type { Env } from '../../src/env.ts'
import type { WorkloadReport } from '../../src/host-protocol/messages.ts'
import { logEvent } from '../../src/log.ts'
import { announceCapacity } from '../../src/services/capacity.ts'
import { endpointStub } from '../stubs.ts'
import type { WorkloadStore } from './workload-store.ts'

/** Passes what is known of workloads on to their owners. */
export class HostReports {
  private readonly ctx: DurableObjectState
  private readonly env: Env
  private readonly store: WorkloadStore

  constructor(ctx: DurableObjectState, env: Env, store: WorkloadStore) {
    this.ctx = ctx
    this.env = env
    this.store = store
  }

  /**
   * Reports of the agent. Returns only once every owner has been told; the agent repeats what was not. One owner that cannot be told must
   * not keep the reports of the others, so the failure comes at the end.
   */
  async passOn(hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
    let failure: unknown = null
    for (const report of reports) {
      try {
        await this.passOnOne(hostId, report)
      } catch (error) {
        failure = error
        logEvent('warn', 'a report could not be passed on', { hostId, workloadId: report.workloadId, error })
      }
    }
    if (reports.some((report) => report.state === 'gone')) this.ctx.waitUntil(announceCapacity(this.env))
    if (failure !== null) throw failure
  }

  /** The machine was removed: nothing of it will ever be heard again. */
  async giveUpAll(hostId: string): Promise<void> {
    const last = {
      state: 'gone' as const,
      exitCode: null,
      reason: 'its host was removed',
      at: Date.now(),
      sequence: Number.MAX_SAFE_INTEGER,
    }
    await this.passOn(
      hostId,
      this.store.all().map((row) => ({ ...last, workloadId: row.workload.id })),
    )
  }

  private async passOnOne(hostId: string, report: WorkloadReport): Promise<void> {
    const row = this.store.get(report.workloadId)
    if (!row || report.sequence <= row.sequence) return
    if (report.state === 'gone') await releaseCapacity(openDatabase(this.env.DB), report.workloadId, hostId)
    await endpointStub(this.env, row.ownerId).workloadReport(report)
    this.ctx.storage.transactionSync(() => {
      if (report.state === 'gone') this.store.remove(report.workloadId)
      else this.store.record(report)
    })
  }
}
