import { mapAtOnce, settleAtOnce } from '../../../src/platform/at-once.ts'
import { describe, expect, it } from '../../support/unit.ts'

/** Calls that end when the test ends them; `begun` lists those that began, in order. */
function scene() {
  const begun: number[] = []
  const ends = new Map<number, (error?: Error) => void>()
  const call = (item: number) => {
    begun.push(item)
    return new Promise<string>((resolve, reject) => ends.set(item, (error) => (error ? reject(error) : resolve(`<${item}>`))))
  }
  const end = async (item: number, error?: Error) => {
    ends.get(item)?.(error)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { begun, call, end }
}

describe('calls to many', () => {
  it('[RATE-33] a bounded number is under way, the next begins when any one ends, and results keep the order of the items', async () => {
    const { begun, call, end } = scene()
    const all = mapAtOnce([1, 2, 3, 4], call, 2)
    expect(begun).toEqual([1, 2])
    await end(2)
    expect(begun).toEqual([1, 2, 3])
    await end(3)
    await end(4)
    await end(1)
    expect(await all).toEqual(['<1>', '<2>', '<3>', '<4>'])
  })

  it('[RATE-33] after a failure no call begins, and it is thrown once those under way have ended', async () => {
    const { begun, call, end } = scene()
    let outcome = ''
    const all = mapAtOnce([1, 2, 3, 4], call, 2).catch((error: Error) => {
      outcome = error.message
    })
    await end(1, new Error('gone'))
    expect([begun, outcome]).toEqual([[1, 2], ''])
    await end(2)
    await all
    expect([begun, outcome]).toEqual([[1, 2], 'gone'])
  })

  it('[RATE-33] where each call counts alone, a failure keeps none from being made', async () => {
    const fails = async (item: number) => {
      if (item === 2) throw new Error('gone')
      return item
    }
    const outcomes = await settleAtOnce([1, 2, 3], fails, 1)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('[RATE-33] nothing to call is no call', async () => {
    expect(await mapAtOnce([], () => Promise.reject(new Error('called')))).toEqual([])
  })
})
