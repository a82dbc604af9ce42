import { simulate } from '../sim/simulation.ts'
import { describe, env, expect, it } from '../support/harness.ts'

const SEED = 7
const STEPS = 3_000

describe('the simulated plane', () => {
  it('[DEV-20] has the same history in Node.js and in the runtime of the plane', async () => {
    const { SIMULATION } = env as unknown as { SIMULATION: Fetcher }
    const elsewhere = await SIMULATION.fetch(`http://node/?seed=${SEED}&steps=${STEPS}`)
    expect(await elsewhere.json()).toEqual(simulate(SEED, STEPS))
  })
})
