import { parseArgs } from 'node:util'
import { Violation } from './checks.ts'
import { asTest, shrink } from './shrink.ts'
import { type Outcome, simulate } from './simulation.ts'

// Simulates the plane: `npm run sim -- --seed 7 --steps 20000 --runs 10`. Each run has the next seed. Exit code 1: an invariant is violated;
// the same seed and steps repeat the history.

const { values } = parseArgs({ options: { seed: { type: 'string' }, steps: { type: 'string' }, runs: { type: 'string' } } })
const first = Number(values.seed ?? 1)
const steps = Number(values.steps ?? 20_000)
const runs = Number(values.runs ?? 1)

const outcomes: Outcome[] = []
for (let seed = first; seed < first + runs; seed++) {
  try {
    const outcome = simulate(seed, steps)
    outcomes.push(outcome)
    console.info(
      `seed ${seed}: ${outcome.steps} steps, ${outcome.jobs} jobs, ${Math.round(outcome.simulatedMs / 60_000)} min, trace ${outcome.trace}`,
    )
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const smallest = shrink({ seed, steps, without: [], problem: error.message })
    console.error(
      `seed ${seed}: ${smallest.problem}\n\nThe smallest history found that fails, as a test for test/sim:\n${asTest(smallest)}`,
    )
    process.exitCode = 1
    break
  }
}
const sum = (counts: (outcome: Outcome) => Record<string, number>) => {
  const total: Record<string, number> = {}
  for (const outcome of outcomes) for (const [name, n] of Object.entries(counts(outcome))) total[name] = (total[name] ?? 0) + n
  return Object.entries(total).map(([name, n]) => `  ${name}: ${n}`)
}
console.info(['jobs ended', ...sum(({ ends }) => ends), 'messages', ...sum(({ network }) => network)].join('\n'))
console.info(['rare states', ...sum(({ reached }) => reached)].join('\n'))
