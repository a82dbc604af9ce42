import { hostPatienceMs } from '../../host-protocol/silence.ts'

/**
 * The time at which each worker of this host last took a job, by the monotonic clock. The relay notes it as the reply passes, which is
 * after the plane has started the job: a job's age here is never more than its age on the plane (adr/0015).
 */
export class TakeTimes {
  private readonly lastMs = new Map<string, number>()

  /** Counts workers that a previous agent process started as having taken a job at `nowMs`: the true time is unknown (HOST-111). */
  adopt(workerIds: readonly string[], nowMs: number): void {
    for (const id of workerIds) this.note(id, nowMs)
  }

  /** Records that a worker took a job. */
  note(workerId: string, nowMs: number): void {
    this.lastMs.set(workerId, nowMs)
  }

  /** Removes workers that do not exist any more. */
  keep(workerIds: readonly string[]): void {
    const held = new Set(workerIds)
    for (const id of this.lastMs.keys()) if (!held.has(id)) this.lastMs.delete(id)
  }

  /**
   * Returns the workers to stop after the silence since `sinceMs`, and the silence in ms after which the next one is due; null: none is
   * left. A worker that never took a job has nothing to lose and is due first.
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
