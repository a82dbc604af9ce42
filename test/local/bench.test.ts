import { parseReport } from '../../bench/load/wrk.ts'
import { amountRow, formatRows, percentiles, ratioRow } from '../../bench/report.ts'
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

  it('percentiles of no samples are null', () => {
    expect(percentiles([])).toEqual({ p50: 0, p99: 0 })
    expect(percentiles([3, 1, 2])).toEqual({ p50: 2, p99: 3 })
  })
})
