import { plainText } from './ansi.ts'

/** Most lines that a view keeps; the oldest go first. */
export const BUFFER_LINES = 100_000

/** A line as a view shows it. */
export interface ShownLine {
  /** Of its event: the place of the line in its log, and in a link to it. */
  id: string
  ts: string
  source: string
  /** As the workload has written it. */
  line: string
  /** Without colours. */
  plain: string
}

/** The line that an event of a log carries; null of any other event. */
export function readLine({ id, event, data }: { id: string; event: string; data: string }): ShownLine | null {
  if (event !== 'message') return null
  const { ts, source, line } = JSON.parse(data) as { ts: string; source: string; line: string }
  return { id, ts, source, line, plain: plainText(line) }
}

/** Lines of a log are counted without gaps, and an id ends with the number of its line. */
const numberOf = ({ id }: ShownLine) => Number(id.split('/')[1])

/** The newest lines of a log in their order, never more than `most` for long. */
export class LineBuffer {
  lines: ShownLine[] = []
  /** How many have gone from its beginning. */
  dropped = 0
  /** How many were written quicker than they could be followed, and are missing in between. */
  missed = 0
  private readonly most: number
  private readonly slack: number

  constructor(most = BUFFER_LINES) {
    this.most = most
    // Cutting the beginning off moves all that is left, so it is done seldom.
    this.slack = Math.ceil(most / 10)
  }

  append(lines: readonly ShownLine[]): void {
    for (const line of lines) {
      const before = this.lines.at(-1)
      const gap = before === undefined ? 0 : numberOf(line) - numberOf(before) - 1
      if (gap > 0) this.missed += gap
      this.lines.push(line)
    }
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

  clear(): void {
    this.lines = []
    this.dropped = 0
    this.missed = 0
  }
}
