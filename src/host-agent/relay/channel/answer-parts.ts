/** Every part counts as this many characters more, so that many small ones are bounded, too. */
const PART_COST = 1_024

/** The parts of answers that have not ended. Together they may have `maxChars`, so that no plane fills the memory of the agent. */
export class AnswerParts {
  private readonly maxChars: number
  private readonly parts = new Map<number, string[]>()
  private held = 0

  constructor(maxChars: number) {
    this.maxChars = maxChars
  }

  /** Characters of all parts, and the cost of each. */
  get heldChars(): number {
    return this.held
  }

  /** Keeps the next part of an answer; false when there is no room for it. */
  keep(n: number, text: string): boolean {
    if (this.held + costOf(text) > this.maxChars) return false
    this.held += costOf(text)
    const before = this.parts.get(n)
    if (before) before.push(text)
    else this.parts.set(n, [text])
    return true
  }

  /** Removes the parts of an answer; returns their text. */
  take(n: number): string {
    const parts = this.parts.get(n) ?? []
    this.parts.delete(n)
    for (const text of parts) this.held -= costOf(text)
    return parts.join('')
  }
}

function costOf(text: string): number {
  return text.length + PART_COST
}
