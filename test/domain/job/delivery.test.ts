import { isRepeat, noteDelivery } from '../../../src/domain/job/delivery.ts'
import { endLease, leaseJob } from '../../../src/domain/job/lease.ts'
import { DELIVERY_HEADER, formatDelivery, parseDelivery } from '../../../src/host-protocol/delivery.ts'
import { queued, queuedJob } from '../../support/queue/jobs.ts'
import { describe, expect, it } from '../../support/unit.ts'

const SESSION = 'session-of-an-agent'
const TIMES = { pingIntervalMs: 10_000 }
const RUNNING = leaseJob(queuedJob(), { workerId: 'w', boot: 'b' }, 0, TIMES)
const by = (number: number, session = SESSION) => ({ session, number })

describe('[HOST-22] deliveries of posts', () => {
  it('a number that was taken, and every one before it, is a repeat; the next one is not', () => {
    const job = noteDelivery(RUNNING, by(7))
    expect([6, 7, 8].map((number) => isRepeat(job, by(number)))).toEqual([true, true, false])
  })

  it('another agent process counts for itself, and a post without a number is never a repeat', () => {
    const job = noteDelivery(RUNNING, by(7))
    expect(isRepeat(job, by(7, 'another-session'))).toBe(false)
    expect(isRepeat(job, null)).toBe(false)
    expect(isRepeat(RUNNING, by(1))).toBe(false)
    expect(noteDelivery(job, null)).toEqual(job)
  })

  it('a new attempt knows no posts', () => {
    const job = noteDelivery(RUNNING, by(7))
    expect(leaseJob(queued(endLease(job, 'lost', 1, 'retry')), { workerId: 'v', boot: 'b' }, 2, TIMES).delivery).toBeNull()
  })

  it('the header is read as it is written, and any other text is ignored', () => {
    expect(DELIVERY_HEADER).toBe('podplane-delivery')
    expect(parseDelivery(formatDelivery(by(12)))).toEqual(by(12))
    const bad = [
      null,
      '',
      '7',
      `${SESSION}.`,
      `${SESSION}.-1`,
      `${SESSION}.1.2`,
      'short.1',
      `${'x'.repeat(65)}.1`,
      `${SESSION}.1234567890123456`,
    ]
    expect(bad.map((text) => parseDelivery(text))).toEqual(bad.map(() => null))
  })
})
