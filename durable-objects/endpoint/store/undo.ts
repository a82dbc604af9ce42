/**
 * Undo log for state that is only in memory: each change registers a function that reverts it, for a rollback of its transaction. State
 * that mirrors rows is read again instead.
 */
export class Undo {
  private readonly steps: (() => void)[] = []
  private isOpen = false

  /** Starts a transaction. Changes outside of one are not recorded. */
  begin(): void {
    this.steps.length = 0
    this.isOpen = true
  }

  /** Mark for `backTo`. */
  get mark(): number {
    return this.steps.length
  }

  /** Records a change; `takeBack` reverts it. */
  note(takeBack: () => void): void {
    if (this.isOpen) this.steps.push(takeBack)
  }

  /** Reverts all changes since a mark, latest first. */
  backTo(mark: number): void {
    for (const takeBack of this.steps.splice(mark).toReversed()) takeBack()
  }

  /** Ends the transaction, which is durable. */
  keep(): void {
    this.steps.length = 0
    this.isOpen = false
  }
}
