import { formatJobId } from '../../../src/domain/job/id.ts'
import { ANY_JOB, matchesFilter, prefixRange, readCursor, readJobFilter } from '../../../src/domain/job/job-filter.ts'
import { describe, expect, it } from '../../support/unit.ts'

const MASK = [0xabcdef, 0x13579b] as const
const RANDOM = new Uint8Array(10).fill(7)
const read = (query: string) => readJobFilter(new URLSearchParams(query))
const idOf = (seq: number, sync = false) => formatJobId(seq, sync, MASK, RANDOM)

describe('readJobFilter', () => {
  it('[JOB-40] reads states in any order and number, times and the beginning of an id', () => {
    expect(read('')).toEqual(ANY_JOB)
    expect(read('status=&from=&to=&id=')).toEqual(ANY_JOB)
    expect(read('status=failed,IN_QUEUE&status=FAILED')).toEqual({ ...ANY_JOB, states: ['IN_QUEUE', 'FAILED'] })
    expect(read('from=2026-08-01T12:00:00Z&to=2026-08-01T14:30:00%2B02:00')).toEqual({
      ...ANY_JOB,
      fromMs: Date.UTC(2026, 7, 1, 12),
      toMs: Date.UTC(2026, 7, 1, 12, 30),
    })
    expect(read('id=sync-EAEB')).toEqual({ ...ANY_JOB, idPrefix: 'eaeb' })
  })

  it('[JOB-40] names the parameter that it cannot read', () => {
    for (const [query, name] of [
      ['status=DONE', 'status'],
      ['from=yesterday', 'from'],
      ['to=2026-13-01T00:00:00Z', 'to'],
      ['id=%25', 'id'],
      ['id=xyz', 'id'],
    ] as const) {
      expect(read(query), query).toEqual({ fault: expect.stringMatching(new RegExp(`^\\$\\.${name}: `)) })
    }
  })
})

describe('prefixRange', () => {
  it('[JOB-40] holds exactly the numbers whose ids begin so, for a prefix of any length', () => {
    const seqs = [1, 2, 15, 16, 255, 4096, 0xffffff, 0x1000000, 0x123456789a]
    for (const seq of seqs) {
      const id = idOf(seq)
      for (let length = 1; length <= id.length; length++) {
        const idPrefix = id.slice(0, length)
        const { fromSeq, beforeSeq } = prefixRange(idPrefix, MASK)
        for (const other of seqs) {
          const begins = idOf(other).startsWith(idPrefix)
          expect(other >= fromSeq && other < beforeSeq, `${seq} ${length} ${other}`).toBe(begins)
        }
      }
    }
  })
})

describe('matchesFilter', () => {
  const job = { id: idOf(7, true), state: 'FAILED' as const, createdAtMs: 1_000 }

  it('[JOB-40] takes the first instant and leaves the last; finds the id of a synchronous job without its beginning', () => {
    expect(matchesFilter(job, ANY_JOB)).toBe(true)
    expect(matchesFilter(job, { ...ANY_JOB, states: ['FAILED', 'IN_QUEUE'] })).toBe(true)
    expect(matchesFilter(job, { ...ANY_JOB, states: ['COMPLETED'] })).toBe(false)
    expect(matchesFilter(job, { ...ANY_JOB, fromMs: 1_000 })).toBe(true)
    expect(matchesFilter(job, { ...ANY_JOB, fromMs: 1_001 })).toBe(false)
    expect(matchesFilter(job, { ...ANY_JOB, toMs: 1_000 })).toBe(false)
    expect(matchesFilter(job, { ...ANY_JOB, idPrefix: idOf(7).slice(0, 20) })).toBe(true)
    expect(matchesFilter(job, { ...ANY_JOB, idPrefix: idOf(8).slice(0, 20) })).toBe(false)
  })
})

describe('readCursor', () => {
  it('[JOB-41] continues after the job that it names, and an invalid one is refused', () => {
    expect(readCursor(null, MASK)).toBeNull()
    expect(readCursor(idOf(42), MASK)).toBe(42)
    expect(readCursor('42', MASK)).toBeUndefined()
  })
})
