import { expect, test } from 'vitest'
import { assignJobs, type Taker } from '../../../src/domain/job/dispatch.ts'
import { formatJobId, parseJobSeq } from '../../../src/domain/job/id.ts'
import { queuedJob } from '../../support/queue/jobs.ts'

const taker = (workerId: string, change: Partial<Taker> = {}): Taker => ({
  workerId,
  boot: 'b',
  held: 0,
  capacity: 1,
  parkedAtMs: 0,
  ...change,
})
const jobs = (count: number) => Array.from({ length: count }, (_, i) => queuedJob({ seq: i + 1, id: `j${i + 1}` }))
const given = (queued: ReturnType<typeof jobs>, takers: Taker[]) =>
  assignJobs(queued, takers).map(({ job, takerIndex }) => `${job.id}>${takers[takerIndex]?.workerId}`)

test('[WRK-12] fewest jobs held first, then longest waiting', () => {
  const takers = [taker('busy', { held: 2 }), taker('late', { parkedAtMs: 9 }), taker('early', { parkedAtMs: 3 })]
  expect(given(jobs(3), takers)).toEqual(['j1>early', 'j2>late', 'j3>busy'])
})

test('[WRK-11] a batch is spread evenly and never exceeds its size', () => {
  const takers = [taker('a', { capacity: 3 }), taker('b', { capacity: 2, parkedAtMs: 1 })]
  expect(given(jobs(9), takers)).toEqual(['j1>a', 'j2>b', 'j3>a', 'j4>b', 'j5>a'])
})

test('[LSE-9] a job skips a boot that held it, and later jobs go on', () => {
  const queued = [queuedJob({ id: 'j1', pastHolders: ['a/b'] }), queuedJob({ seq: 2, id: 'j2' })]
  expect(given(queued, [taker('a')])).toEqual(['j2>a'])
})

test('[JOB-7] an id names its sequence number under the endpoint mask and has the documented form', () => {
  const mask = [0xabcdef, 0x123456] as const
  for (const seq of [1, 77, 2 ** 24, 2 ** 40 + 5]) {
    const id = formatJobId(seq, seq === 77, mask, new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    expect(id).toMatch(/^(sync-)?[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-u1$/)
    expect(id.startsWith('sync-')).toBe(seq === 77)
    expect(parseJobSeq(id, mask)).toBe(seq)
  }
  expect(parseJobSeq('nonsense', mask)).toBeNull()
})
