import type { WorkloadStats } from '../../src/host-protocol/messages.ts'

/** Figures older than this say nothing about now. */
const MAX_AGE_MS = 30_000

/** What the host's containers use, as its last beats told. Memory only: nothing is written for a beat. */
export class HostStats {
  private byId = new Map<string, WorkloadStats>()
  private takenAtMs = 0

  take(stats: readonly WorkloadStats[], nowMs: number): void {
    this.byId = new Map(stats.map((item) => [item.id, item]))
    this.takenAtMs = nowMs
  }

  read(ids: readonly string[], nowMs: number): WorkloadStats[] {
    if (nowMs - this.takenAtMs > MAX_AGE_MS) return []
    return ids.flatMap((id) => this.byId.get(id) ?? [])
  }
}
