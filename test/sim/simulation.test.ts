import { describe, expect, it } from '../support/unit.ts'
import { Violation } from './checks.ts'
import { simulate } from './simulation.ts'

/** `SIM_STEPS=1000000` plays longer, `SIM_SEED=…` repeats the run that a failure named. */
const STEPS = Number(process.env.SIM_STEPS ?? 500_000)
const SEED = Number(process.env.SIM_SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000)
const STEPS_PER_HISTORY = 20_000
/** States that are rare in one history, and occur in every run of this length. */
const RARE = [
  'a host becomes LOST',
  'a host is cut off',
  'a job runs twice for a while',
  'a machine without the plane stops a worker',
  'a placement is repeated',
  'a post is repeated',
  'a relay resumes with stored posts',
  'a submit is repeated',
  'a worker is silent for a while',
  'a worker stops a job',
  'an endpoint crashes after a commit',
  'an endpoint crashes before a commit',
  'no host has room',
]

describe('the simulated plane', () => {
  it('[DEV-20] violates no invariant under faults, and comes to rest after them', { timeout: STEPS * 5 }, () => {
    const reached = new Set<string>()
    let steps = 0
    for (let seed = SEED; steps < STEPS; seed++) {
      try {
        const outcome = simulate(seed, STEPS_PER_HISTORY)
        steps += outcome.steps
        for (const state of Object.keys(outcome.reached)) reached.add(state)
      } catch (error) {
        if (error instanceof Violation) error.message = `SIM_SEED=${seed}, ${STEPS_PER_HISTORY} steps: ${error.message}`
        throw error
      }
    }
    // Each occurs in three of four histories, and this many steps are at least 15.
    expect(RARE.filter((state) => !reached.has(state))).toEqual([])
  })

  it('[DEV-20] has one history for a seed', () => {
    expect(simulate(7, 3_000)).toEqual(simulate(7, 3_000))
    expect(simulate(7, 3_000).trace).not.toBe(simulate(8, 3_000).trace)
  })
})
