import { comparePlaces, type ShownLine } from './lines.ts'

/** Maximum number of lines that a view retains; the oldest are dropped first. */
export const BUFFER_LINES = 100_000

/** Lines of a log, sorted and unique; at most `most`, exceeded by up to 10% between cuts. */
export class LineBuffer {
  lines: ShownLine[] = []
  /** Number of lines dropped at the beginning. */
  dropped = 0
  private readonly most: number
  private readonly slack: number

  constructor(most = BUFFER_LINES) {
    this.most = most
    // Cutting the beginning copies the rest, so it is done rarely.
    this.slack = Math.ceil(most / 10)
  }

  get isFull(): boolean {
    return this.lines.length >= this.most
  }

  /** Inserts sorted lines at their places: mostly at the end, else among the existing ones. */
  add(lines: readonly ShownLine[]): void {
    const [first] = lines
    if (first === undefined) return
    const at = this.placeOf(first)
    const behind = this.lines.splice(at)
    for (const line of behind.length === 0 ? lines : joined(behind, lines)) this.lines.push(line)
    if (this.lines.length <= this.most + this.slack) return
    const gone = this.lines.length - this.most
    this.lines = this.lines.slice(gone)
    this.dropped += gone
  }

  /** Inserts older lines at the beginning, as far as there is room. */
  prepend(lines: readonly ShownLine[]): void {
    const room = Math.max(0, this.most - this.lines.length)
    this.lines = [...lines.slice(Math.max(0, lines.length - room)), ...this.lines]
  }

  /** Index at which a line belongs. */
  private placeOf({ place }: ShownLine): number {
    const last = this.lines.at(-1)
    if (last === undefined || comparePlaces(last.place, place) < 0) return this.lines.length
    let low = 0
    let high = this.lines.length
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const line = this.lines[middle]
      if (line && comparePlaces(line.place, place) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Merges two sorted lists; a line that is in both appears once. */
function joined(a: readonly ShownLine[], b: readonly ShownLine[]): ShownLine[] {
  const all: ShownLine[] = []
  let [i, k] = [0, 0]
  for (;;) {
    const [left, right] = [a[i], b[k]]
    if (!left || !right) return [...all, ...a.slice(i), ...b.slice(k)]
    const order = comparePlaces(left.place, right.place)
    all.push(order <= 0 ? left : right)
    if (order <= 0) i += 1
    if (order >= 0) k += 1
  }
}
