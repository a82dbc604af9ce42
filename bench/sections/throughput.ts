import { directSubmitTarget, fillQueue, purge, statusTarget, submitTarget } from '../job-calls.ts'
import { measureRate } from '../load/closed-loop.ts'
import type { Target } from '../load/target.ts'
import { measureCycles } from '../load/worker-loop.ts'
import { changeRow, medians, type Row, rateRow, ratioRow } from '../report.ts'
import { type Queue, startBaseline, startBenchPlane, startQueue } from '../setup.ts'

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
/** More jobs than the workers can finish in one measurement. */
const PREFILL = 12_000

type Measured = 'bare' | 'hono' | 'insert' | 'direct' | 'run' | 'rpc' | 'status' | 'cycles' | 'cyclesBatch'

/** Requests per second of the plane, beside a Worker that does hardly anything. */
export async function measureThroughput(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  await using baseline = await startBaseline()
  const queue = await startQueue(plane)
  const rounds: Record<Measured, number>[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(queue, baseline.url, round))
  return describe(medians(rounds))
}

// What is compared is measured back to back, because the machine's speed drifts.
async function measureRound(queue: Queue, baselineUrl: string, round: number): Promise<Record<Measured, number>> {
  const rate = (target: Target) => measureRate(target, SECONDS)
  const baseline = (path: string): Target => ({ url: baselineUrl + path, method: 'GET' })
  const bare = await rate(baseline('/bare'))
  const hono = await rate(baseline('/hono'))
  const insert = await rate({ ...baseline('/insert'), method: 'POST', body: submitTarget(queue).body ?? '' })
  const submits = await measureSubmits(queue, round % 2 === 0)
  const rpc = await rate(baseline('/rpc'))
  const status = await rate(await statusTarget(queue))
  await fillQueue(queue, PREFILL)
  const cycles = await measureCycles(queue.url, queue.workers, SECONDS, 1)
  await fillQueue(queue, PREFILL)
  const cyclesBatch = await measureCycles(queue.url, queue.workers, SECONDS, BATCH)
  await purge(queue)
  return { bare, hono, insert, ...submits, rpc, status, cycles, cyclesBatch }
}

// The two differ by little, so neither may always be the one that comes later.
async function measureSubmits(queue: Queue, directFirst: boolean): Promise<{ direct: number; run: number }> {
  const targets = { direct: directSubmitTarget(queue), run: submitTarget(queue) }
  const rates = { direct: 0, run: 0 }
  for (const name of directFirst ? (['direct', 'run'] as const) : (['run', 'direct'] as const)) {
    rates[name] = await measureRate(targets[name], SECONDS)
  }
  return rates
}

function describe(rates: Record<Measured, number>): Row[] {
  return [
    rateRow('bare handler', rates.bare),
    rateRow('Hono route', rates.hono),
    rateRow('route to a Durable Object, no storage', rates.rpc),
    rateRow('naive insert, one row a request', rates.insert),
    rateRow('/run', rates.run),
    rateRow('/run without key check and limits', rates.direct),
    rateRow('/status', rates.status),
    rateRow('take and done', rates.cycles),
    rateRow(`take and done, batches of ${BATCH}`, rates.cyclesBatch),
    ratioRow('/run : naive insert', rates.run, rates.insert, { atLeast: 2 }),
    changeRow('key check and limits add to /run', rates.direct, rates.run, { atMost: 0.15 }),
    ratioRow('/status : bare object call', rates.status, rates.rpc, { atLeast: 0.65 }),
    ratioRow('take and done : naive insert', rates.cycles, rates.insert),
    ratioRow(`batches of ${BATCH} : naive insert`, rates.cyclesBatch, rates.insert),
    ratioRow('Hono route : bare handler', rates.hono, rates.bare, { atLeast: 0.85 }),
  ]
}
