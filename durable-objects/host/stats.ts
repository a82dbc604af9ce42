import type { WorkerTransport } from '../../src/host-protocol/messages.ts'
import type { WorkloadStats } from '../../src/host-protocol/stats.ts'

/** Samples older than this do not describe the present. */
const MAX_AGE_MS = 30_000

/** Resource use of the host's containers and transports of its workers, from its last beat. In memory only: a beat writes nothing. */
export class HostStats {
  private byId = new Map<string, WorkloadStats>()
  private takenAtMs = 0
  /** Null: not reported since the object is in memory. */
  transports: readonly WorkerTransport[] | null = null

  take(stats: readonly WorkloadStats[], nowMs: number): void {
    this.byId = new Map(stats.map((item) => [item.id, item]))
    this.takenAtMs = nowMs
  }

  read(ids: readonly string[], nowMs: number): WorkloadStats[] {
    if (nowMs - this.takenAtMs > MAX_AGE_MS) return []
    return ids.flatMap((id) => this.byId.get(id) ?? [])
  }
}
