/** Maximum share of one workload in the whole. */
const SHARE = 1 / 4
/** This part is divided evenly among the workloads; the rest is for whichever comes first. */
const OWN_PART = 1 / 2

/**
 * A bounded resource, in units that its owner chooses, such as bytes. Each workload has a part that no other can take, and may use up to a
 * quarter of the whole while there is space (HOST-26).
 */
export class RelayRoom {
  private readonly max: number
  private readonly countCallers: () => number
  private readonly byCaller = new Map<string, number>()
  private total = 0

  /** `countCallers`: returns the number of workloads, including those that use nothing of it. */
  constructor(max: number, countCallers: () => number) {
    this.max = max
    this.countCallers = countCallers
  }

  get taken(): number {
    return this.total
  }

  fits(caller: string, amount: number): boolean {
    const own = this.byCaller.get(caller) ?? 0
    const callers = Math.max(1, this.countCallers(), this.byCaller.size + (own === 0 ? 1 : 0))
    const part = Math.min(this.max * SHARE, (this.max * OWN_PART) / callers)
    if (own + amount <= part) return true
    if (own + amount > this.max * SHARE) return false
    const others = [...this.byCaller].reduce((sum, [name, taken]) => sum + (name === caller ? 0 : Math.max(0, taken - part)), 0)
    return others + own + amount - part <= this.max * (1 - OWN_PART)
  }

  take(caller: string, amount: number): void {
    this.total += amount
    this.byCaller.set(caller, (this.byCaller.get(caller) ?? 0) + amount)
  }

  giveBack(caller: string, amount: number): void {
    this.total -= amount
    const left = (this.byCaller.get(caller) ?? 0) - amount
    if (left > 0) this.byCaller.set(caller, left)
    else this.byCaller.delete(caller)
  }
}
