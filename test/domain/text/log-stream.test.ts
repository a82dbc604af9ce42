import {
  BACKLOG_FACTOR,
  isSegmentDue,
  LOG_RETAINED_BYTES,
  LOG_RETAINED_LINES,
  lastToDrop,
  logFrame,
  nextShownSecond,
  SEGMENT_BYTES,
  SEGMENT_LINES,
  segmentEnd,
  startOf,
} from '../../../src/domain/text/log-stream.ts'
import { describe, expect, it } from '../../support/unit.ts'

const T = Date.UTC(2026, 5, 1, 12, 2, 3)
/** A line that ends there. */
const row = (n: number, endByte = n) => ({ n, endByte })

describe('where a reader begins', () => {
  it('[LOG-2] Last-Event-ID overrides since, since overrides tail', () => {
    const query = { tail: 7, since: '2026-06-01T12:02:03Z' }
    expect(startOf(query, '2026-06-01T12:02:03Z/000000000012')).toEqual({ kind: 'after-line', n: 12, atMs: T })
    expect(startOf(query, '2026-06-01T14:02:03+02:00')).toEqual({ kind: 'after-time', atMs: T })
    expect(startOf(query, undefined)).toEqual({ kind: 'since', atMs: T })
    expect(startOf({ tail: 7 }, undefined)).toEqual({ kind: 'tail', lines: 7 })
  })

  it('[LOG-3] strictly after a shown time means the next second', () => {
    expect(nextShownSecond(T - 1)).toBe(T)
    expect(nextShownSecond(T)).toBe(T + 1_000)
    expect(nextShownSecond(T + 999)).toBe(T + 1_000)
    expect(nextShownSecond(T + 1_000)).toBe(T + 2_000)
  })
})

describe('frames', () => {
  it('[LOG-3] the id is the time, a slash and twelve digits; a line cannot end its frame', () => {
    const frame = logFrame({ n: 7, atMs: T + 999, source: 'container', line: 'a\r\n\ndata: b' })
    expect(frame).toBe(
      'id: 2026-06-01T12:02:03Z/000000000007\ndata: {"ts":"2026-06-01T12:02:03Z","source":"container","line":"a\\r\\n\\ndata: b"}\n\n',
    )
    expect(logFrame({ n: 1_000_000_000_000, atMs: T, source: 'system', line: '' })).toMatch(/^id: 2026-06-01T12:02:03Z\/1000000000000\n/)
  })
})

describe('the tail', () => {
  it('[LOG-10] keeps the newest lines: one fewer, exactly as many, one more', () => {
    const newest = (n: number) => row(n)
    expect(lastToDrop([row(1), row(2)], newest(LOG_RETAINED_LINES - 1))).toBeNull()
    expect(lastToDrop([row(1), row(2)], newest(LOG_RETAINED_LINES))).toBeNull()
    expect(lastToDrop([row(1), row(2)], newest(LOG_RETAINED_LINES + 1))?.n).toBe(1)
    expect(lastToDrop([row(1), row(2), row(3)], newest(LOG_RETAINED_LINES + 2))?.n).toBe(2)
  })

  it('[LOG-10] and at most so many bytes: a line goes when the lines after it fill the log', () => {
    expect(lastToDrop([row(1, 10), row(2, 20)], row(3, 10 + LOG_RETAINED_BYTES - 1))).toBeNull()
    expect(lastToDrop([row(1, 10), row(2, 20)], row(3, 10 + LOG_RETAINED_BYTES))?.n).toBe(1)
    expect(lastToDrop([row(1, 10), row(2, 20)], row(3, 20 + LOG_RETAINED_BYTES))?.n).toBe(2)
  })

  it('[LOG-10] never drops the newest line itself', () => {
    expect(lastToDrop([row(3, 2 * LOG_RETAINED_BYTES)], row(3, 2 * LOG_RETAINED_BYTES))).toBeNull()
  })
})

describe('segments for a bucket', () => {
  const rows = (count: number, bytesEach = 0) => Array.from({ length: count }, (_, index) => row(index + 1, (index + 1) * bytesEach))

  it('[LOG-20] a segment is due when all of it is older than the retained lines', () => {
    const lines = LOG_RETAINED_LINES + SEGMENT_LINES
    expect(isSegmentDue(row(1), row(lines - 1))).toBe(false)
    expect(isSegmentDue(row(1), row(lines))).toBe(true)
    const bytes = 10 + LOG_RETAINED_BYTES + SEGMENT_BYTES
    expect(isSegmentDue(row(1, 10), row(2, bytes - 1))).toBe(false)
    expect(isSegmentDue(row(1, 10), row(2, bytes))).toBe(true)
  })

  it('[LOG-20] it ends after so many lines or bytes, whatever follows', () => {
    expect(segmentEnd([])).toBeNull()
    expect(segmentEnd(rows(3))).toBe(3)
    expect(segmentEnd(rows(SEGMENT_LINES + 5))).toBe(SEGMENT_LINES)
    expect(segmentEnd([row(1, 10), row(2, 9 + SEGMENT_BYTES), row(3, 10 + SEGMENT_BYTES)])).toBe(2)
    expect(segmentEnd([row(1, 10), row(2, 10 + SEGMENT_BYTES)])).toBe(1)
  })

  it('[LOG-20] lines that a bucket does not take are dropped at a multiple of the bounds', () => {
    const newest = (n: number) => row(n)
    expect(lastToDrop([row(1)], newest(BACKLOG_FACTOR * LOG_RETAINED_LINES), BACKLOG_FACTOR)).toBeNull()
    expect(lastToDrop([row(1)], newest(BACKLOG_FACTOR * LOG_RETAINED_LINES + 1), BACKLOG_FACTOR)?.n).toBe(1)
    expect(lastToDrop([row(1, 5)], row(2, 4 + BACKLOG_FACTOR * LOG_RETAINED_BYTES), BACKLOG_FACTOR)).toBeNull()
    expect(lastToDrop([row(1, 5)], row(2, 5 + BACKLOG_FACTOR * LOG_RETAINED_BYTES), BACKLOG_FACTOR)?.n).toBe(1)
  })
})
