/** Limits the request rate of each workload: `perSecond`, with bursts of one second's requests (HOST-76). */
export class WorkloadRates {
  private readonly stepMs: number
  private readonly nextAtMs = new Map<string, number>()

  constructor(perSecond: number) {
    this.stepMs = 1_000 / perSecond
  }

  /** Returns the delay in ms for a request that has just arrived. */
  delayMs(caller: string, nowMs: number): number {
    const at = Math.max(this.nextAtMs.get(caller) ?? 0, nowMs - 1_000) + this.stepMs
    this.nextAtMs.set(caller, at)
    if (this.nextAtMs.size > 1_000) this.dropIdle(nowMs)
    return Math.max(0, at - nowMs)
  }

  private dropIdle(nowMs: number): void {
    for (const [caller, at] of this.nextAtMs) if (at < nowMs - 1_000) this.nextAtMs.delete(caller)
  }
}
