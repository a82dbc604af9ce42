import { instantOf } from '../core/instants.ts'
import type { Column } from '../output/columns.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Series = Answer<'getPodMetrics'>['series'][number]

const BARS = '▁▂▃▄▅▆▇█'
const WIDTH = 40

/** Line of bars, each the mean of an equal part of the points; a blank where all points of a part are unknown. */
export function sparkline(points: readonly (number | null)[], width = WIDTH): string {
  const known = points.filter((point) => point !== null)
  const most = Math.max(...known, 0)
  const count = Math.min(width, points.length)
  return Array.from({ length: count }, (_, index) => {
    const share = points
      .slice(Math.floor((index * points.length) / count), Math.floor(((index + 1) * points.length) / count))
      .filter((point) => point !== null)
    if (share.length === 0) return ' '
    const mean = share.reduce((sum, point) => sum + point, 0) / share.length
    return BARS.charAt(most === 0 ? 0 : Math.round((mean / most) * (BARS.length - 1)))
  }).join('')
}

/** Prints the resource usage of a pod: a line of bars on a terminal, else each point with its time. */
export async function printMetrics(session: Session, id: string, { since }: { since: string }): Promise<void> {
  const from = instantOf('--since', since, session.io.nowMs())
  const answer = await session.api.getPodMetrics({ path: { id }, query: { from } })
  const { out } = session
  if (out.isTerminal || out.isJson) out.list(answer, answer.series, { columns: COLUMNS, idOf: nameOf, empty: 'no samples of that time' })
  else
    out.lines(
      answer.series.flatMap((series) =>
        series.points.map((point, index) => [timeOf(answer, index), nameOf(series), series.unit, point ?? ''].join('\t')),
      ),
    )
}

const COLUMNS: readonly Column<Series>[] = [
  { name: 'name', of: nameOf },
  { name: 'unit', of: ({ unit }) => unit },
  { name: 'now', of: ({ points }) => points.findLast((point) => point !== null) },
  { name: 'most', of: ({ points, maxima }) => Math.max(...[...points, ...(maxima ?? [])].filter((point) => point !== null), 0) },
  { name: 'series', of: ({ points }) => sparkline(points) },
]

function nameOf({ name, gpu }: Series): string {
  return gpu === undefined ? name : `${name} ${gpu}`
}

function timeOf({ from, step }: { from: string; step: number }, index: number): string {
  return new Date(Date.parse(from) + index * step * 1_000).toISOString()
}
