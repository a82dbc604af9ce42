import { describe, expect, it } from 'vitest'
import {
  BUDGET_LABELS,
  BUDGET_NAMES,
  boundTexts,
  budgetsOf,
  ceilingsOf,
  usedText,
} from '../../src/console/pages/operator/account/bounds.ts'
import { BUDGETS } from '../../src/contract/accounts/budgets.ts'

describe('[UI-69] limits of an account as the operator types them', () => {
  it('every budget has a field, and those of bytes say their unit', () => {
    expect(BUDGET_NAMES.toSorted()).toEqual(Object.keys(BUDGETS).toSorted())
    const inMib = BUDGET_NAMES.filter((name) => BUDGET_LABELS[name].endsWith('(MiB)'))
    expect(inMib.toSorted()).toEqual(BUDGET_NAMES.filter((name) => BUDGETS[name].unit === 'bytes').toSorted())
  })

  it('come back as they were, bytes in MiB; an empty field leaves the limit to the plan or the plane', () => {
    const overrides = { gpus: 8, pods: 0, queuedBytes: 3 * 2 ** 19, storedBytes: 1 }
    const texts = boundTexts(overrides)
    expect([texts.gpus, texts.pods, texts.queuedBytes, texts.endpoints]).toEqual(['8', '0', '1.5', ''])
    expect(budgetsOf(texts)).toEqual({ body: overrides, wrong: [] })
    expect(budgetsOf({})).toEqual({ body: {}, wrong: [] })
  })

  it('name the fields that cannot be read', () => {
    expect(budgetsOf({ gpus: 'many', pods: '1.5', queuedBytes: '1.5', secrets: '-1' }).wrong).toEqual(['gpus', 'pods', 'secrets'])
    expect(ceilingsOf({ perHour: ' 12.5 ', perMonth: 'x' })).toEqual({ body: { perHour: 12.5 }, wrong: ['perMonth'] })
    expect(ceilingsOf({ perHour: '', perMonth: '' })).toEqual({ body: {}, wrong: [] })
  })

  it('say how much is in use', () => {
    expect(usedText({ used: 1_200, bound: 5_000, unit: 'count' })).toBe('1,200 of 5,000 in use')
    expect(usedText({ used: 2 ** 19, bound: 2 ** 26, unit: 'bytes' })).toBe('0.5 of 64 MiB in use')
  })
})
