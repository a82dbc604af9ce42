import { plainText } from '../ansi.ts'

/** Where a line stands among those of its log; of a joined one: by the clock, then by worker. */
export interface LinePlace {
  /** 0 in the log of one workload: its numbers alone tell the order. */
  atMs: number
  workerId: string
  n: number
}

/** A line as a view shows it. */
export interface ShownLine {
  /** In a link to it, and where its log goes on behind it. */
  id: string
  ts: string
  source: string
  /** As the workload has written it. */
  line: string
  /** Without colours. */
  plain: string
  place: LinePlace
}

/** A line as the plane answers it; of a joined log with its worker. */
interface AnsweredLine {
  n: number
  id: string
  ts: string
  source: string
  line: string
  workerId?: string
}

/** One of a page. In a joined log the id of a line is its place, as cursors have it. */
export function shownLine({ n, id, ts, source, line, workerId }: AnsweredLine): ShownLine {
  const rest = { ts, source, line, plain: plainText(line) }
  if (workerId === undefined) return { id, ...rest, place: { atMs: 0, workerId: '', n } }
  const place = { atMs: Date.parse(ts), workerId, n }
  return { id: `${place.atMs}.${workerId}.${n}`, ...rest, place }
}

/** The line that an event of a log carries; null of any other event. Lines are counted without gaps, and an id ends with the number of its line. */
export function readLine({ id, event, data }: { id: string; event: string; data: string }): ShownLine | null {
  if (event !== 'message') return null
  const { ts, source, line } = JSON.parse(data) as { ts: string; source: string; line: string }
  return shownLine({ n: numberOf(id), id, ts, source, line })
}

/** The number of a line of one log, of its id. */
export const numberOf = (id: string): number => Number(id.split('/')[1])

/** Lines as they came, cut into stretches that are in order. */
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

export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.workerId !== b.workerId) return a.workerId < b.workerId ? -1 : 1
  return a.n - b.n
}
