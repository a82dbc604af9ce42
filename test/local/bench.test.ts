import {
  billOf,
  type Counts,
  chattyPodUsage,
  countsOf,
  hostUsage,
  httpEndpointUsage,
  httpJobUsage,
  jobUsage,
  longJobUsage,
  MONTH_SECONDS,
  type Operation,
  workerUsage,
} from '../../bench/bill/model.ts'
import { compareRatios, exitCodeOf, formatJudged, summarize } from '../../bench/cpu/compare.ts'
import { selfTimes } from '../../bench/cpu/self-times.ts'
import { parseReport } from '../../bench/load/wrk.ts'
import { amountRow, formatRows, formatVerdict, percentiles, ratioRow } from '../../bench/report.ts'
import { describe, expect, it } from '../support/unit.ts'

const WRK_REPORT = `Running 2s test @ http://127.0.0.1:1/
  1 threads and 32 connections
  7712 requests in 2.08s, 617.56KB read
Requests/sec:   3707.69
`

describe('the output of wrk', () => {
  it('is parsed as a rate', () => {
    expect(parseReport(WRK_REPORT)).toEqual({ perSecond: 3707.69, requests: 7712, failures: 0 })
  })

  it('counts refusals and broken connections as failures', () => {
    const report = `${WRK_REPORT}  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n`
    expect(parseReport(report).failures).toBe(15)
  })

  it('is refused when it is no report of wrk', () => {
    expect(() => parseReport('unable to connect')).toThrow('unable to connect')
  })
})

describe('rows of the report', () => {
  it('a ratio is the median of the rounds, each against its own base', () => {
    expect(ratioRow('a : b', [10, 90, 8], [10, 30, 2]).measured).toBe('3.00 x')
  })

  it('a target is met at its bound, and missed beyond it', () => {
    expect(amountRow('a', 350, 'KB', { atMost: 350 }).target?.met).toBe(true)
    expect(amountRow('a', 350.1, 'KB', { atMost: 350 }).target?.met).toBe(false)
    expect(ratioRow('a', [2], [1], { atLeast: 2 }).target?.met).toBe(true)
    expect(ratioRow('a', [1.99], [1], { atLeast: 2 }).target?.met).toBe(false)
  })

  it('a missed target is said', () => {
    expect(formatRows([amountRow('slow', 5, 'ms', { atMost: 1 })])).toBe('  slow  5 ms  target <= 1 ms  MISSED')
  })

  it('the verdict counts the targets that are met', () => {
    const goal = { atMost: 1 }
    expect(formatVerdict([amountRow('a', 1, 'ms', goal), amountRow('b', 2, 'ms', goal), amountRow('c', 3, 'ms')])).toBe(
      ', 1 of 2 targets met',
    )
    expect(formatVerdict([amountRow('a', 1, 'ms')])).toBe('')
  })

  it('percentiles of no samples are null', () => {
    expect(percentiles([])).toEqual({ p50: 0, p99: 0 })
    expect(percentiles([3, 1, 2])).toEqual({ p50: 2, p99: 3 })
  })
})

describe('the comparison of processor time with the committed ratios', () => {
  const committed = { '/run': { ratio: 2, tolerance: 0.1 } }
  const verdictOf = (rounds: number[]) => compareRatios({ '/run': rounds }, committed).map(({ verdict }) => verdict)

  it('a ratio is allowed up to its tolerance, and fails beyond it', () => {
    expect(verdictOf([2.2, 2.2, 2.2, 2.2, 2.2])).toEqual(['ok'])
    expect(verdictOf([2.21, 2.21, 2.21, 2.21, 2.21])).toEqual(['FAIL'])
    expect(verdictOf([1, 1, 1, 1, 1])).toEqual(['ok'])
  })

  it('one disturbed round on each side changes neither the median nor the spread', () => {
    expect(summarize([9, 2, 1.9, 2.1, 0.1])).toEqual({ ratio: 2, spread: expect.closeTo(0.1) })
  })

  it('rounds that differ by more than the tolerance are not judged', () => {
    expect(verdictOf([1.8, 1.8, 2, 2.1, 2.1])).toEqual(['NOISY'])
    expect(verdictOf([3, 3, 4, 5, 5])).toEqual(['NOISY'])
  })

  it('fewer than five rounds, or other operations than the committed ones, are refused', () => {
    expect(() => verdictOf([2, 2, 2, 2])).toThrow('5 are needed')
    const rounds = [2, 2, 2, 2, 2]
    expect(() => compareRatios({ '/run': rounds, '/stop': rounds }, committed)).toThrow('/stop')
    expect(() => compareRatios({}, committed)).toThrow('/run')
  })

  it('the exit code is 1 after a regression, else 2 after noise', () => {
    const [ok, failed, noisy] = [
      [2, 2, 2, 2, 2],
      [3, 3, 3, 3, 3],
      [1, 1, 2, 3, 3],
    ].map((rounds) => compareRatios({ '/run': rounds }, committed))
    if (!ok || !failed || !noisy) throw new Error('a comparison is missing')
    expect([ok, [...ok, ...noisy], [...noisy, ...failed, ...ok]].map(exitCodeOf)).toEqual([0, 2, 1])
  })

  it('a line names the verdict and the numbers', () => {
    const [judged] = compareRatios({ '/run': [3, 3, 3, 3, 3] }, committed)
    expect(judged && formatJudged(judged)).toBe(
      '  FAIL   /run: measured 3.00, committed 2.00, allowed 2.20, rounds differ by 0.0 % of 10.0 %',
    )
  })
})

const NOTHING: Counts = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0, requests: 0, objectCalls: 0, messages: 0 }
const COUNTS: Record<Operation, Counts> = {
  submit: { ...NOTHING, rowsWritten: 3, requests: 1, objectCalls: 1 },
  status: { ...NOTHING, requests: 1, objectCalls: 1 },
  take: { ...NOTHING, rowsWritten: 2, requests: 1, objectCalls: 1 },
  'first ping': { ...NOTHING, rowsWritten: 1, requests: 1, objectCalls: 1 },
  ping: { ...NOTHING, requests: 1, objectCalls: 1 },
  done: { ...NOTHING, rowsWritten: 3, requests: 1, objectCalls: 1 },
  retention: { ...NOTHING, rowsWritten: 1 },
  'removal alarm': { ...NOTHING, rowsWritten: 1, alarmsSet: 1, objectCalls: 1 },
  'empty take': { ...NOTHING, requests: 1, objectCalls: 1 },
  'first take of a minute': { ...NOTHING, rowsWritten: 1 },
  'stop poll': { ...NOTHING, requests: 1, objectCalls: 1 },
  'alarm moved': { ...NOTHING, rowsWritten: 1, alarmsSet: 1 },
  'first end of a minute': { ...NOTHING, rowsWritten: 2 },
  'host hour': { ...NOTHING, rowsRead: 1_000, messages: 720 },
  'channel take': { ...NOTHING, rowsWritten: 2, messages: 1 },
  'channel done': { ...NOTHING, rowsWritten: 3, messages: 1 },
  'channel busy hour': { ...NOTHING, rowsWritten: 60, messages: 30 },
  'channel idle hour': { ...NOTHING, rowsWritten: 4, alarmsSet: 4, messages: 6 },
  'log minute': { ...NOTHING, rowsWritten: 60, requests: 60, objectCalls: 60 },
}

describe('[DEV-18] the model of the bill', () => {
  it('a job of 600 s has 60 pings, of which one is its first, and a share of its endpoint', () => {
    const { operations, heldSeconds } = httpJobUsage(600, 10)
    expect(heldSeconds).toBe(60)
    expect(operations).toEqual({
      ...{ submit: 1, status: 1, take: 1, done: 1, retention: 1 },
      ...{ 'first ping': 1, ping: 59, 'stop poll': 24, 'alarm moved': 2, 'first end of a minute': 1 },
      'removal alarm': 1 / 3,
    })
  })

  it('[JOB-49] an alarm removes the jobs that end within three minutes, as many as one commit removes, and at least one', () => {
    const alarmsOf = (seconds: number, workers: number) => httpJobUsage(seconds, workers).operations['removal alarm']
    expect([alarmsOf(1, 1), alarmsOf(1, 10), alarmsOf(3_600, 1)]).toEqual([1 / 180, 1 / 200, 1])
  })

  it('every tenth job of 1 s meets a ping of its worker', () => {
    const { operations } = httpJobUsage(1, 1)
    expect([operations['first ping'], operations.ping, operations['stop poll']]).toEqual([0.1, 0, 0.04])
  })

  it('a long job over a channel is a sixth of a counted hour, and a short one has no call of its worker', () => {
    expect(longJobUsage()).toEqual({ operations: { 'channel busy hour': 1 / 6 }, heldSeconds: 0 })
    expect(countsOf(jobUsage(1, 10), COUNTS)).toMatchObject({ requests: 2, messages: 2 })
  })

  it('counts of a usage are those of its operations', () => {
    expect(countsOf({ operations: { submit: 2, take: 1 }, heldSeconds: 0 }, COUNTS)).toEqual({
      ...NOTHING,
      ...{ rowsWritten: 8, requests: 3, objectCalls: 3 },
    })
  })

  it('each count is charged at its price', () => {
    const million = { operations: { submit: 1e6, 'alarm moved': 1e6 }, heldSeconds: 0 }
    const { rows, requests, objectCalls } = billOf(million, COUNTS)
    expect([rows, requests, objectCalls].map((usd) => Number(usd.toFixed(6)))).toEqual([5, 0.3, 0.15])
    const host = billOf(hostUsage(3_600 * 1_000), COUNTS)
    expect([host.rows, host.objectCalls].map((usd) => Number(usd.toFixed(6)))).toEqual([0.001, 0.0054])
  })

  it('an object that holds polls all month costs its whole time', () => {
    const { objectTime, total, ...others } = billOf(httpEndpointUsage(MONTH_SECONDS), COUNTS)
    expect(objectTime).toBeCloseTo(4.1472)
    expect(total).toBeCloseTo(objectTime + others.rows + others.requests + others.objectCalls)
    expect(billOf(workerUsage(MONTH_SECONDS), COUNTS).rows).toBeCloseTo(720 * 8e-6)
    expect(billOf(chattyPodUsage(MONTH_SECONDS), COUNTS).rows).toBeCloseTo(2.592)
  })
})

it('a profile has the time of each function without the functions that it calls, longest first, and no idle time', () => {
  const node = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url, lineNumber: 4 } })
  const nodes = [node(1, '(idle)'), node(2, 'run', 'file:///x/worker.js'), node(3, ''), node(4, 'run', 'file:///x/worker.js')]
  expect(selfTimes({ nodes, samples: [1, 2, 3, 4, 9], timeDeltas: [100, 5, 30, 7, 1] })).toEqual([
    { where: '(anonymous)', us: 30 },
    { where: 'run worker.js:5', us: 12 },
    { where: '(unknown)', us: 1 },
  ])
})
