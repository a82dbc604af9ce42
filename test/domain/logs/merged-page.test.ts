import fc from 'fast-check'
import type { Direction } from '../../../src/domain/logs/line-page.ts'
import {
  comparePlaces,
  type LinePlace,
  mergePages,
  placeCursor,
  readPlaceCursor,
  type WorkerPage,
} from '../../../src/domain/logs/merged-page.ts'
import type { StoredLine } from '../../../src/domain/text/log-stream.ts'
import { describe, expect, it } from '../../support/unit.ts'

type Logs = Record<string, StoredLine[]>

/** The page of a log that reads at most `checked` lines. */
function pageOf(workerId: string, all: StoredLine[], direction: Direction, after: LinePlace | null, checked: number): WorkerPage {
  const isOlder = direction === 'older'
  const ordered = isOlder ? [...all].reverse() : all
  const rest = ordered
    .filter((line) => after === null || (isOlder ? line.atMs <= after.atMs : line.atMs >= after.atMs))
    .filter((line) => {
      if (after === null || after.workerId !== workerId) return true
      return isOlder ? line.n < after.n : line.n > after.n
    })
  const seen = rest.slice(0, checked)
  const last = seen.at(-1)
  const lines = isOlder ? [...seen].reverse() : seen
  const end = { isEnd: seen.length === rest.length, isTruncated: false, oldestN: 1, newestN: all.length }
  return { workerId, lines, reachedN: last?.n ?? 0, reachedAtMs: last?.atMs ?? 0, ...end }
}

function walk(logs: Logs, direction: Direction, limit: number, checked: number): string[] {
  const seen: string[] = []
  for (let after: LinePlace | null = null; ; ) {
    const pages = Object.entries(logs).map(([id, lines]) => pageOf(id, lines, direction, after, checked))
    const { lines, next } = mergePages(pages, direction, after, limit)
    const names = lines.map(({ workerId, n }) => `${workerId}${n}`)
    seen.push(...(direction === 'older' ? names.reverse() : names))
    if (next === null) return seen
    after = next
  }
}

describe('mergePages', () => {
  it('[LOG-34] joins logs by time, both ways, without gap or repeat, however little each answers', () => {
    const log = fc.array(fc.nat(3), { maxLength: 12 }).map((steps) => {
      let atMs = 0
      return steps.map((step, index): StoredLine => {
        atMs += step
        return { n: index + 1, atMs, source: 'container', line: '' }
      })
    })
    fc.assert(
      fc.property(log, log, log, fc.integer({ min: 1, max: 5 }), (a, b, c, limit) => {
        const logs: Logs = { a, b, c }
        const all = Object.entries(logs).flatMap(([workerId, lines]) => lines.map(({ n, atMs }) => ({ workerId, n, atMs })))
        const names = all.sort(comparePlaces).map(({ workerId, n }) => `${workerId}${n}`)
        // 13: more lines than can share one instant.
        expect(walk(logs, 'newer', limit, 13)).toEqual(names)
        expect(walk(logs, 'older', limit, 13)).toEqual(names.toReversed())
      }),
    )
  })

  it('[LOG-34] ends where the page of a log ends before the log does', () => {
    const line = (n: number, atMs: number): StoredLine => ({ n, atMs, source: 'container', line: '' })
    const page = (workerId: string, lines: StoredLine[], reachedAtMs: number, isEnd: boolean): WorkerPage => ({
      workerId,
      lines,
      reachedN: lines[0]?.n ?? 9,
      reachedAtMs,
      isEnd,
      isTruncated: !isEnd,
      oldestN: 1,
      newestN: 9,
    })
    const pages = [page('a', [line(1, 10), line(2, 90)], 10, true), page('b', [], 50, false)]
    expect(mergePages(pages, 'older', null, 10)).toEqual({
      lines: [{ ...line(2, 90), workerId: 'a' }],
      next: { atMs: 50, workerId: 'b', n: 9 },
      isTruncated: true,
    })
  })

  it('[LOG-34] a cursor is read as it was written', () => {
    const place = { atMs: 1_780_315_323_120, workerId: 'z3jr-9_v2', n: 17 }
    expect(readPlaceCursor(placeCursor('older', place))).toEqual({ direction: 'older', place })
    expect(readPlaceCursor(placeCursor('newer', place))).toEqual({ direction: 'newer', place })
  })
})
