/**
 * What memory knows and no row has, over a transaction that is rolled back: each change leaves how to take it back. Rows that are rolled back are
 * simply read again.
 */
export class Undo {
  private readonly steps: (() => void)[] = []
  private isOpen = false

  /** A transaction begins: outside of one, a change is what its row is. */
  begin(): void {
    this.steps.length = 0
    this.isOpen = true
  }

  /** Where memory may be taken back to. */
  get mark(): number {
    return this.steps.length
  }

  /** A change has been made; `takeBack` undoes it. */
  note(takeBack: () => void): void {
    if (this.isOpen) this.steps.push(takeBack)
  }

  /** Takes back all changes since a mark, the latest first. */
  backTo(mark: number): void {
    for (const takeBack of this.steps.splice(mark).toReversed()) takeBack()
  }

  /** The transaction is durable. */
  keep(): void {
    this.steps.length = 0
    this.isOpen = false
  }
}
