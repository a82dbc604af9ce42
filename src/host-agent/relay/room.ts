/** Of a room that all containers share, one may take so much. */
const SHARE = 1 / 4

/** Whose a request is: the address of its container, or empty for programs of this machine itself, which no tenant writes. */
export function sourceOf(address: string | undefined): string {
  return address === undefined || /^(::ffff:)?127\.0\.0\.1$|^::1$/.test(address) ? '' : address
}

/** A bounded amount of something, of which no container can take all from the others (HOST-26). */
export class RelayRoom {
  private readonly max: number
  private readonly bySource = new Map<string, number>()
  private total = 0

  constructor(max: number) {
    this.max = max
  }

  get taken(): number {
    return this.total
  }

  fits(source: string, amount: number): boolean {
    const own = (this.bySource.get(source) ?? 0) + amount
    return this.total + amount <= this.max && (source === '' || own <= this.max * SHARE)
  }

  take(source: string, amount: number): void {
    this.total += amount
    this.bySource.set(source, (this.bySource.get(source) ?? 0) + amount)
  }

  giveBack(source: string, amount: number): void {
    this.total -= amount
    const left = (this.bySource.get(source) ?? 0) - amount
    if (left > 0) this.bySource.set(source, left)
    else this.bySource.delete(source)
  }
}
