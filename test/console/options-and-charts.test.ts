import { describe, expect, it } from 'vitest'
import { chartsOf, summaryOf } from '../../src/console/parts/charts/figures.ts'
import { isNewPod, priceOf, stoppedPod, whyNotOption } from '../../src/console/parts/explain/options.ts'
import { WHY_EXAMPLE } from '../../src/contract/explain/explain.ts'

const [OPTION] = WHY_EXAMPLE.options
if (OPTION === undefined) throw new Error('the example of an explanation has no option')

describe('[UI-31] an option that would start the resource', () => {
  it('has its price, and the difference to the requested one', () => {
    const prices = [OPTION, { ...OPTION, priceDifference: 0.21 }, { ...OPTION, priceDifference: 0 }, { ...OPTION, waitSeconds: 41 }]
    expect(prices.map(priceOf)).toEqual(['$0.36/h, −$0.08/h', '$0.36/h, +$0.21/h', '$0.36/h', 'in about 41 s, then $0.36/h'])
  })

  it('has a button for users with the permission; the others read who has it', () => {
    const reasons = [
      whyNotOption(OPTION, true),
      whyNotOption(OPTION, false),
      whyNotOption({ ...OPTION, who: 'OPERATOR' }, true),
      whyNotOption({ ...OPTION, call: null }, true),
    ]
    expect(reasons).toEqual([
      undefined,
      'Your role may view this but not change it.',
      'Only the operator of the plane can do this.',
      'No action is needed: this happens automatically.',
    ])
    expect([isNewPod(OPTION), isNewPod({ ...OPTION, call: null })]).toEqual([true, false])
    const call = { method: 'POST' as const, path: '/v2/pods/p1/action', body: { action: 'stop' } }
    expect([stoppedPod(OPTION), stoppedPod({ ...OPTION, kind: 'STOP', call })]).toEqual([undefined, 'p1'])
  })
})

describe('[UI-32] charts', () => {
  const answer = {
    from: '2026-06-01T12:00:00Z',
    step: 60,
    series: [
      { name: 'cpu' as const, unit: 'percent' as const, points: [10, null, 30] },
      { name: 'memory' as const, unit: 'bytes' as const, points: [1e9, 2e9, 3e9] },
      { name: 'memoryLimit' as const, unit: 'bytes' as const, points: [4e9, 4e9, 4e9] },
      { name: 'gpu' as const, unit: 'percent' as const, gpu: 1, points: [null, null, null] },
    ],
  }

  it('group related series, leave out unknown values, and have a summary in a sentence', () => {
    const charts = chartsOf(answer)
    expect(charts.map(({ title, times }) => [title, times])).toEqual([
      ['CPU', [1780315200, 1780315260, 1780315320]],
      ['Memory', [1780315200, 1780315260, 1780315320]],
    ])
    expect(charts.map(summaryOf)).toEqual([
      'busy: last 30 %, mean 20 %, maximum 30 %',
      'used: last 3.0 GB, mean 2.0 GB, maximum 3.0 GB; limit: last 4.0 GB, mean 4.0 GB, maximum 4.0 GB',
    ])
  })
})
