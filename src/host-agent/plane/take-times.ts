import { hostPatienceMs } from '../../host-protocol/silence.ts'

/**
 * When each worker of this host was last given a job, on this machine's monotonic clock. It is noted as the reply passes the relay, so after
 * the plane has started the job: what the host takes for the age of a job is never more than what the plane takes for it (adr/0015).
 */
export class TakeTimes {
  private readonly lastMs = new Map<string, number>()

  /** Workers that a former agent process started: when they took what they run is not known, so they count as given a job now (HOST-111). */
  adopt(workerIds: readonly string[], nowMs: number): void {
    for (const id of workerIds) this.note(id, nowMs)
  }

  /** A worker was given a job. */
  note(workerId: string, nowMs: number): void {
    this.lastMs.set(workerId, nowMs)
  }

  /** Forgets workers that are not there any more. */
  keep(workerIds: readonly string[]): void {
    const held = new Set(workerIds)
    for (const id of this.lastMs.keys()) if (!held.has(id)) this.lastMs.delete(id)
  }

  /**
   * Which of these workers are to be stopped now that the host has been silent since `sinceMs`, and after how much silence the next one is.
   * Null: none is left. A worker that never had a job has nothing to lose.
   */
  planStops(
    workerIds: readonly string[],
    silence: { sinceMs: number; nowMs: number; maxMs: number },
  ): { due: string[]; nextMs: number | null } {
    const { sinceMs, nowMs, maxMs } = silence
    const patience = workerIds.map((id) => ({ id, ms: hostPatienceMs(sinceMs - (this.lastMs.get(id) ?? sinceMs), maxMs) }))
    const isDue = ({ ms }: { ms: number }) => nowMs - sinceMs >= ms
    const later = patience.filter((worker) => !isDue(worker)).map(({ ms }) => ms)
    return { due: patience.filter(isDue).map(({ id }) => id), nextMs: later.length === 0 ? null : Math.min(...later) }
  }
}
