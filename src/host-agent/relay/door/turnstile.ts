/** How often each workload may ask: `perSecond` for ever, and as many at once as come in one second (HOST-76). */
export class Turnstile {
  private readonly stepMs: number
  private readonly nextAtMs = new Map<string, number>()

  constructor(perSecond: number) {
    this.stepMs = 1_000 / perSecond
  }

  /** How long the request that has just come is to wait. */
  delayMs(caller: string, nowMs: number): number {
    const at = Math.max(this.nextAtMs.get(caller) ?? 0, nowMs - 1_000) + this.stepMs
    this.nextAtMs.set(caller, at)
    if (this.nextAtMs.size > 1_000) this.forgetIdle(nowMs)
    return Math.max(0, at - nowMs)
  }

  private forgetIdle(nowMs: number): void {
    for (const [caller, at] of this.nextAtMs) if (at < nowMs - 1_000) this.nextAtMs.delete(caller)
  }
}
