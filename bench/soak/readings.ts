import type { Point } from './judge.ts'

/** The kinds of series. */
export type Group = 'memory' | 'open files' | 'sockets' | 'threads' | 'p50' | 'p99' | 'bytes' | 'files' | 'rows'

/** One value of a sample. */
export interface Reading {
  group: Group
  /** The process, the family of files, the table, or the call. */
  of: string
  value: number
}

/** Values of one kind over time. */
export interface Series {
  group: Group
  of: string
  points: Point[]
}

/** All series of a run, in the order in which they were first seen. */
export class Readings {
  /** Samples that could not be read, by what could not be read. */
  readonly skipped = new Map<string, number>()
  private readonly all = new Map<string, Series>()
  /** Times at which all files were listed, and those of them at which the rows of a family could not be read. */
  private readonly scans: number[] = []
  private readonly unread = new Map<string, Set<number>>()

  add(atMs: number, readings: readonly Reading[]): void {
    for (const { group, of, value } of readings) {
      const key = `${group} ${of}`
      const series = this.all.get(key) ?? { group, of, points: [] }
      series.points.push({ atMs, value })
      this.all.set(key, series)
    }
  }

  /** Adds a list of all files: what it lacks is 0 at this time. */
  scan(atMs: number, readings: readonly Reading[]): void {
    this.scans.push(atMs)
    this.add(atMs, readings)
  }

  /** Counts a sample that could not be read. */
  skip(what: string, family = '', atMs = 0): void {
    const name = family === '' ? what : `${what} of ${family}`
    this.skipped.set(name, (this.skipped.get(name) ?? 0) + 1)
    this.unread.set(family, (this.unread.get(family) ?? new Set()).add(atMs))
  }

  /** The series from a time on. A family of files or a table that did not exist at a scan has the value 0 there. */
  since(fromMs: number): Series[] {
    return [...this.all.values()].map(({ group, of, points }) => {
      const known = new Map(points.map((point) => [point.atMs, point]))
      const unread = this.unread.get(of.split('.')[0] ?? '')
      const scans = isOfFiles(group) ? this.scans.filter((atMs) => !known.has(atMs) && !(group === 'rows' && unread?.has(atMs))) : []
      const all = [...points, ...scans.map((atMs) => ({ atMs, value: 0 }))].toSorted((a, b) => a.atMs - b.atMs)
      return { group, of, points: all.filter(({ atMs }) => atMs >= fromMs) }
    })
  }
}

function isOfFiles(group: Group): boolean {
  return group === 'bytes' || group === 'files' || group === 'rows'
}
