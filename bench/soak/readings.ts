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
  private readonly all = new Map<string, Series>()
  /** Values that could not be read, by what could not be read. */
  readonly skipped = new Map<string, number>()

  add(atMs: number, readings: readonly Reading[]): void {
    for (const { group, of, value } of readings) {
      const key = `${group} ${of}`
      const series = this.all.get(key) ?? { group, of, points: [] }
      series.points.push({ atMs, value })
      this.all.set(key, series)
    }
  }

  skip(what: string): void {
    this.skipped.set(what, (this.skipped.get(what) ?? 0) + 1)
  }

  /** The series without the points before a time. */
  since(atMs: number): Series[] {
    return [...this.all.values()].map((series) => ({ ...series, points: series.points.filter((point) => point.atMs >= atMs) }))
  }
}
