import { directSubmitTarget, fillQueue, purge, statusTarget, submitTarget } from '../job-calls.ts'
import { measureRate } from '../load/closed-loop.ts'
import type { Target } from '../load/target.ts'
import { measureCycles } from '../load/worker-loop.ts'
import { changeRow, type Row, rateRow, ratioRow } from '../report.ts'
import { type Queue, startBaseline, startBenchPlane, startQueue } from '../setup.ts'

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
/** More jobs than the workers can finish in one measurement. */
const PREFILL = 12_000

type Measured = 'bare' | 'hono' | 'insert' | 'direct' | 'run' | 'rpc' | 'status' | 'cycles' | 'cyclesBatch'

/** Requests per second of the plane, compared with a nearly empty Worker. */
export async function measureThroughput(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  await using baseline = await startBaseline()
  const queue = await startQueue(plane)
  const rounds: Record<Measured, number>[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(queue, baseline.url))
  return describe(rounds)
}

// Compared values are measured back to back, because the machine's speed drifts.
async function measureRound(queue: Queue, baselineUrl: string): Promise<Record<Measured, number>> {
  const rate = (target: Target) => measureRate(target, SECONDS)
  const baseline = (path: string): Target => ({ url: baselineUrl + path, method: 'GET' })
  const bare = await rate(baseline('/bare'))
  const hono = await rate(baseline('/hono'))
  const insert = await rate({ ...baseline('/insert'), method: 'POST', body: submitTarget(queue).body ?? '' })
  const submits = await measureSubmits(queue)
  const rpc = await rate(baseline('/rpc'))
  const status = await rate(await statusTarget(queue))
  await fillQueue(queue, PREFILL)
  const cycles = await measureCycles(queue.url, queue.workers, SECONDS, 1)
  await fillQueue(queue, PREFILL)
  const cyclesBatch = await measureCycles(queue.url, queue.workers, SECONDS, BATCH)
  await purge(queue)
  return { bare, hono, insert, ...submits, rpc, status, cycles, cyclesBatch }
}

// The two differ by little, so neither is always measured second.
async function measureSubmits(queue: Queue): Promise<{ direct: number; run: number }> {
  const half = (target: Target) => measureRate(target, SECONDS / 2)
  const early = { direct: await half(directSubmitTarget(queue)), run: await half(submitTarget(queue)) }
  const late = { run: await half(submitTarget(queue)), direct: await half(directSubmitTarget(queue)) }
  return { direct: (early.direct + late.direct) / 2, run: (early.run + late.run) / 2 }
}

function describe(rounds: readonly Record<Measured, number>[]): Row[] {
  const of = (name: Measured) => rounds.map((round) => round[name])
  return [
    rateRow('bare handler', of('bare')),
    rateRow('Hono route', of('hono')),
    rateRow('route to a Durable Object, no storage', of('rpc')),
    rateRow('naive insert, one row a request', of('insert')),
    rateRow('/run', of('run')),
    rateRow('/run without key check and limits', of('direct')),
    rateRow('/status', of('status')),
    rateRow('take and done', of('cycles')),
    rateRow(`take and done, batches of ${BATCH}`, of('cyclesBatch')),
    ratioRow('/run : naive insert', of('run'), of('insert'), { atLeast: 2 }),
    changeRow('key check and limits add to /run', of('direct'), of('run'), { atMost: 0.15 }),
    ratioRow('/status : bare object call', of('status'), of('rpc'), { atLeast: 0.65 }),
    ratioRow('take and done : naive insert', of('cycles'), of('insert')),
    ratioRow(`batches of ${BATCH} : naive insert`, of('cyclesBatch'), of('insert')),
    ratioRow('Hono route : bare handler', of('hono'), of('bare'), { atLeast: 0.85 }),
  ]
}
