import { plainText } from '../ansi.ts'

/** Order of a line: by number in one log; by time, then worker, then number in a joined log. */
export interface LinePlace {
  /** 0 in the log of one workload, where the numbers alone define the order. */
  atMs: number
  workerId: string
  n: number
}

/** A log line for display. */
export interface ShownLine {
  /** Id for links to the line; the stream of its log resumes after it. */
  id: string
  ts: string
  source: string
  /** Text as the workload has written it. */
  line: string
  /** Text without colors. */
  plain: string
  place: LinePlace
}

/** A line as the plane returns it; with its worker in a joined log. */
interface AnsweredLine {
  n: number
  id: string
  ts: string
  source: string
  line: string
  workerId?: string
}

/** Line of a page. In a joined log its id is its place, in the format of cursors. */
export function shownLine({ n, id, ts, source, line, workerId }: AnsweredLine): ShownLine {
  const rest = { ts, source, line, plain: plainText(line) }
  if (workerId === undefined) return { id, ...rest, place: { atMs: 0, workerId: '', n } }
  const place = { atMs: Date.parse(ts), workerId, n }
  return { id: `${place.atMs}.${workerId}.${n}`, ...rest, place }
}

/** Line in an event of a log stream; null for other events. Line numbers have no gaps, and an event id ends with the number. */
export function readLine({ id, event, data }: { id: string; event: string; data: string }): ShownLine | null {
  if (event !== 'message') return null
  const { ts, source, line } = JSON.parse(data) as { ts: string; source: string; line: string }
  return shownLine({ n: numberOf(id), id, ts, source, line })
}

/** Line number in the id of a line of one log. */
export const numberOf = (id: string): number => Number(id.split('/')[1])

/** Splits lines in order of arrival into sorted runs. */
export function runsOf(lines: readonly ShownLine[]): ShownLine[][] {
  const runs: ShownLine[][] = []
  let before: ShownLine | undefined
  for (const line of lines) {
    const run = runs.at(-1)
    if (run && before && comparePlaces(before.place, line.place) < 0) run.push(line)
    else runs.push([line])
    before = line
  }
  return runs
}

/** Compares two lines for sorting; the result is negative if `a` comes first. */
export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.workerId !== b.workerId) return a.workerId < b.workerId ? -1 : 1
  return a.n - b.n
}
