import type { Faults, Judged } from './judge.ts'
import type { Group, Series } from './readings.ts'

export type JudgedSeries = Series & Judged

const GROUP_NAMES: Readonly<Record<Group, (of: string) => string>> = {
  memory: (of) => `memory of ${of}`,
  'open files': (of) => `open files of ${of}`,
  sockets: (of) => `sockets of ${of}`,
  threads: (of) => `threads of ${of}`,
  p50: (of) => `latency p50, ${of}`,
  p99: (of) => `latency p99, ${of}`,
  bytes: (of) => `bytes, ${of}`,
  files: (of) => `files, ${of}`,
  rows: (of) => `rows, ${of}`,
}
const OUTCOMES = { 0: 'PASSED', 1: 'FAILED', 2: 'NO VERDICT' } as const
const GROUPS = Object.keys(GROUP_NAMES) as Group[]
const HEAD = ['series', 'at start', 'at end', 'slope per hour', 'verdict', 'why']
const SIDES = ['---', '--:', '--:', '--:', '---', '---']
const KIB = 2 ** 10
const MIB = 2 ** 20

/** Returns a Markdown table, kind by kind. Counts that never changed are joined to one line for each kind and verdict. */
export function formatTable(all: readonly JudgedSeries[]): string {
  const lines = GROUPS.flatMap((group) => {
    const series = all.filter((one) => one.group === group)
    const still = Map.groupBy(series.filter(isStill), ({ verdict }) => verdict)
    return [
      ...series.filter((one) => !isStill(one)).map(cellsOf),
      ...[...still].map(([verdict, { length }]) => [GROUP_NAMES[group](`${length} others`), 'same', 'same', '0', verdict, '']),
    ]
  })
  return [HEAD, SIDES, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Returns the line with the verdict of the run, which has this exit code. */
export function formatVerdict(code: 0 | 1 | 2, all: readonly JudgedSeries[], faults: Faults, heldShare: number): string {
  const namesOf = (verdict: Judged['verdict']) => all.filter((one) => one.verdict === verdict).map(nameOf)
  const growing = namesOf('GROWS')
  const open = [...namesOf('too short'), ...namesOf('not measured')]
  const { lost, duplicated, wrong } = faults
  const parts = [
    ...(lost + duplicated + wrong > 0 ? [`${lost} lost, ${duplicated} duplicated, ${wrong} wrong, refused or stuck`] : []),
    ...(growing.length > 0 ? [`${growing.length} of ${all.length} series grow: ${growing.join('; ')}`] : []),
    ...(growing.length === 0 && open.length < all.length ? ['no growth was seen'] : []),
    ...(open.length > 0 ? [`${open.length} of ${all.length} series have no verdict yet`] : []),
    ...(heldShare > 0 ? [`${(heldShare * 100).toFixed(1)} % of the load was not sent, because too many jobs were in progress`] : []),
  ]
  return `${OUTCOMES[code]}: ${parts.join('; ')}`
}

function isStill({ group, points }: JudgedSeries): boolean {
  return (group === 'rows' || group === 'files') && points.every(({ value }) => value === points[0]?.value)
}

function nameOf({ group, of }: JudgedSeries): string {
  return GROUP_NAMES[group](of)
}

function cellsOf(series: JudgedSeries): string[] {
  const { group, start, end, slopePerHour, verdict, note } = series
  const slope = `${slopePerHour > 0 ? '+' : ''}${amount(group, slopePerHour)}`
  return [nameOf(series), amount(group, start), amount(group, end), slope, verdict === 'GROWS' ? `**${verdict}**` : verdict, note]
}

function amount(group: Group, value: number): string {
  if (group === 'memory' || group === 'bytes') {
    return Math.abs(value) < MIB ? `${(value / KIB).toFixed(0)} KiB` : `${(value / MIB).toFixed(1)} MiB`
  }
  return group === 'p50' || group === 'p99' ? `${value.toFixed(1)} ms` : String(Math.round(value))
}
