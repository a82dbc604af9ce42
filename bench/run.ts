import { createApiClient } from '../src/local/api-client.ts'
import { measureRate, type Target } from './closed-loop.ts'
import { measureAtRate, measureParkedReplies } from './latency.ts'
import { formatReport, median, type Rates } from './report.ts'
import { type Bench, describeMachine, setUp } from './setup.ts'
import { keepPinging, measureCycles } from './worker-loop.ts'

// `npm run bench`: what our own code costs, beside a Worker that does hardly anything. A measurement, never a test: it fails
// when an answer is wrong, and never when it is slow.

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
const PARKED = 100
const STEADY_PER_SECOND = 200
const STEADY_SECONDS = 3
/** Jobs that one round takes and more than its /run measurement leaves behind. */
const PREFILL = 8_000
const PREFILL_SECONDS = 20
const BODY = '{"input":{"prompt":"Hello","steps":30}}'

const bench = await setUp()
process.stdout.write(`podplane bench: ${describeMachine()}\n${ROUNDS} rounds, ${SECONDS} s each measurement, 32 connections, medians\n\n`)
const stopPinging = keepPinging(bench.url, bench.workers)
try {
  const rates = await measureRounds(bench)
  const parked = { count: PARKED, ...(await measureParkedReplies(bench, bench.workers, PARKED)) }
  const steady = { perSecond: STEADY_PER_SECOND, ...(await measureAtRate(bench, STEADY_PER_SECOND, STEADY_SECONDS)) }
  await purge(bench)
  const restartMs = await bench.restart()
  process.stdout.write(`${formatReport({ rates, parked, steady, restartMs })}\n`)
  process.stdout.write('\nOnly ratios of one run compare; rates depend on the machine and its mood.\n')
} finally {
  stopPinging()
  await bench.close()
}

async function measureRounds(on: Bench): Promise<Rates> {
  const rounds: Rates[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    rounds.push(await measureRound(on))
    process.stderr.write(`round ${round} of ${ROUNDS} done\n`)
  }
  const of = (name: keyof Rates) => median(rounds.map((round) => round[name]))
  return {
    bare: of('bare'),
    hono: of('hono'),
    insert: of('insert'),
    rpc: of('rpc'),
    run: of('run'),
    status: of('status'),
    cycles: of('cycles'),
    cyclesBatch: of('cyclesBatch'),
  }
}

// What is compared is measured back to back, because the machine's speed drifts.
async function measureRound(on: Bench): Promise<Rates> {
  const baseline = (path: string): Target => ({ url: on.baselineUrl + path, method: 'GET' })
  const bare = await measureRate(baseline('/bare'), SECONDS)
  const hono = await measureRate(baseline('/hono'), SECONDS)
  const insert = await measureRate({ ...baseline('/insert'), method: 'POST', body: BODY }, SECONDS)
  const run = await measureRate(jobCall(on, 'POST', 'run', BODY), SECONDS)
  const rpc = await measureRate(baseline('/rpc'), SECONDS)
  const status = await measureRate(jobCall(on, 'GET', `status/${await submitOne(on)}`), SECONDS)
  await fillQueue(on)
  const cycles = await measureCycles(on.url, on.workers, SECONDS, 1)
  await fillQueue(on)
  const cyclesBatch = await measureCycles(on.url, on.workers, SECONDS, BATCH)
  await purge(on)
  return { bare, hono, insert, rpc, run, status, cycles, cyclesBatch }
}

function jobCall(on: Bench, method: Target['method'], operation: string, body?: string): Target {
  const headers = { authorization: `Bearer ${on.apiKey}`, 'content-type': 'application/json' }
  return { url: `${on.url}/v2/${on.endpointId}/${operation}`, method, headers, ...(body === undefined ? {} : { body }) }
}

async function submitOne(on: Bench): Promise<string> {
  const job = await api(on).request('POST', `/v2/${on.endpointId}/run`, { input: {} })
  return (job as { id: string }).id
}

async function fillQueue(on: Bench): Promise<void> {
  for (let second = 0; second < PREFILL_SECONDS; second += 1) {
    const health = await api(on).request('GET', `/v2/${on.endpointId}/health`)
    if ((health as { jobs: { inQueue: number } }).jobs.inQueue >= PREFILL) return
    await measureRate(jobCall(on, 'POST', 'run', BODY), 1)
  }
  throw new Error(`the queue did not reach ${PREFILL} jobs in ${PREFILL_SECONDS} s`)
}

async function purge(on: Bench): Promise<void> {
  await api(on).request('POST', `/v2/${on.endpointId}/purge-queue`, {})
}

function api(on: Bench) {
  return createApiClient(on.url, on.apiKey)
}
