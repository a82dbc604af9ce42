import { comparePlaces, type ShownLine } from './lines.ts'

/** Most lines that a view keeps; the oldest go first. */
export const BUFFER_LINES = 100_000

/** Lines of a log in their order, each once, never more than `most` for long. */
export class LineBuffer {
  lines: ShownLine[] = []
  /** How many have gone from its beginning. */
  dropped = 0
  private readonly most: number
  private readonly slack: number

  constructor(most = BUFFER_LINES) {
    this.most = most
    // Cutting the beginning off moves all that is left, so it is done seldom.
    this.slack = Math.ceil(most / 10)
  }

  get isFull(): boolean {
    return this.lines.length >= this.most
  }

  /** Puts lines, in their order, where they belong: mostly at the end, else between those that are there. */
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

  /** Puts what came before at its beginning, as far as there is room. */
  prepend(lines: readonly ShownLine[]): void {
    const room = Math.max(0, this.most - this.lines.length)
    this.lines = [...lines.slice(Math.max(0, lines.length - room)), ...this.lines]
  }

  /** Behind how many lines one belongs. */
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

/** Two lists in one order; what is in both comes once. */
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
