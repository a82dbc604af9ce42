import { Violation } from './checks.ts'
import { FAULTS, type Fault, simulate } from './simulation.ts'

/** A history that violates an invariant, with no more steps and kinds of faults than it needs. */
export interface Failing {
  seed: number
  steps: number
  without: readonly Fault[]
  problem: string
}

/** Plays a history and returns the violated invariant, or null. */
export function problemOf(seed: number, steps: number, without: readonly Fault[], play: typeof simulate = simulate): string | null {
  try {
    play(seed, steps, without)
    return null
  } catch (error) {
    if (error instanceof Violation) return error.message
    throw error
  }
}

/**
 * Makes a failing history smaller: first without each kind of fault that it does not need, then with fewer steps. A smaller history may
 * violate another invariant, which is as good. `play` is for tests.
 */
export function shrink(failing: Failing, play: typeof simulate = simulate): Failing {
  const { seed } = failing
  let best = failing
  const attempt = (steps: number, without: readonly Fault[]): boolean => {
    const problem = problemOf(seed, steps, without, play)
    if (problem !== null) best = { seed, steps, without, problem }
    return problem !== null
  }
  for (const fault of FAULTS) attempt(best.steps, [...best.without, fault])
  // A history with fewer steps ends its faults earlier, so fewer steps do not always fail less: the smallest tried is taken.
  for (let passing = 0; best.steps - passing > 1; ) {
    const middle = Math.floor((passing + best.steps) / 2)
    if (!attempt(middle, best.without)) passing = middle
  }
  return best
}

/** A failing history as a test to paste. */
export function asTest({ seed, steps, without, problem }: Failing): string {
  const title = (problem.split('\n')[0] ?? '').replaceAll("'", "\\'")
  const parameters = [String(seed), String(steps), ...(without.length > 0 ? [JSON.stringify(without).replaceAll('"', "'")] : [])]
  return `it('${title}', () => {\n  simulate(${parameters.join(', ')})\n})`
}
