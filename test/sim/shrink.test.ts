import { describe, expect, it } from '../support/unit.ts'
import { Violation } from './checks.ts'
import { asTest, problemOf, shrink } from './shrink.ts'
import { FAULTS, type simulate } from './simulation.ts'

/** A simulation that fails from its 1234th step on, unless objects do not crash. */
const play = ((_seed, steps, without = []) => {
  if (steps >= 1_234 && !without.includes('crash')) throw new Violation("job 1's lease is lost\nafter:\n…")
}) as (...parameters: Parameters<typeof simulate>) => void as typeof simulate

describe('[DEV-20] a failing history', () => {
  it('is made as short as it can be, without the faults that it does not need', () => {
    const failing = { seed: 5, steps: 20_000, without: [], problem: problemOf(5, 20_000, [], play) ?? '' }
    const { steps, without, problem } = shrink(failing, play)
    expect({ steps, without: without.toSorted() }).toEqual({
      steps: 1_234,
      without: FAULTS.filter((fault) => fault !== 'crash').toSorted(),
    })
    expect(problem).toContain('is lost')
  })

  it('is printed as a test', () => {
    expect(asTest({ seed: 5, steps: 10, without: ['cut'], problem: "job 1's lease is lost\nafter:" })).toBe(
      "it('job 1\\'s lease is lost', () => {\n  simulate(5, 10, ['cut'])\n})",
    )
  })
})
