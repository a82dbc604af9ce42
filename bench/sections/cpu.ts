import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fillQueue, purge, statusTarget, submitTarget } from '../job-calls.ts'
import { countRequests } from '../load/closed-loop.ts'
import { HttpConnection } from '../load/http-connection.ts'
import type { Target } from '../load/target.ts'
import { countCycles, postResult, takeJobs } from '../load/worker-loop.ts'
import { amountRow, type Goal, median, type Row, ratioRow } from '../report.ts'
import { type Queue, startBaseline, startBenchPlane, startQueue } from '../setup.ts'

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
/** More jobs than the workers can finish in one measurement. */
const PREFILL = 12_000
/** The kernel counts processor time in hundredths of a second. */
const TICK_US = 10_000

const OPERATIONS = {
  run: '/run',
  status: '/status',
  ping: 'a ping with a job',
  cycles: 'take and done',
  cyclesBatch: `take and done, batches of ${BATCH}, a job`,
}
type Operation = keyof typeof OPERATIONS
const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[]

/** Processor time of one operation and of a bare handler just before it, microseconds. */
interface Pair {
  us: number
  bareUs: number
}

interface Measured {
  /** Version of the measured runtime. */
  runtime: string
  rounds: Record<Operation, Pair>[]
}

/**
 * Processor time of the runtime for one operation, compared with a bare handler measured back to back. It is steady where rates are not.
 */
export async function measureCpu(): Promise<Row[]> {
  const { rounds } = await measureRounds(ROUNDS)
  const us = (operation: Operation) => rounds.map((round) => round[operation].us)
  const bareUs = (operation: Operation) => rounds.map((round) => round[operation].bareUs)
  const ratio = (operation: Operation, goal?: Goal) =>
    ratioRow(`${OPERATIONS[operation]} : bare handler`, us(operation), bareUs(operation), goal)
  return [
    amountRow('bare handler', median(OPERATION_NAMES.flatMap(bareUs)), 'µs'),
    ...OPERATION_NAMES.map((operation) => amountRow(OPERATIONS[operation], median(us(operation)), 'µs')),
    ratio('run', { atMost: 3.5 }),
    ratio('status'),
    ratio('ping'),
    ratio('cycles', { atMost: 14 }),
  ]
}

/** Returns the ratio of each operation to the bare handler, one value per round, after a first round that warms up. */
export async function measureRatios(count: number): Promise<{ runtime: string; ratios: Record<string, number[]> }> {
  const { runtime, rounds } = await measureRounds(1 + count)
  const ratiosOf = (operation: Operation) => rounds.slice(1).map((round) => round[operation].us / round[operation].bareUs)
  return { runtime, ratios: Object.fromEntries(OPERATION_NAMES.map((operation) => [OPERATIONS[operation], ratiosOf(operation)])) }
}

async function measureRounds(count: number): Promise<Measured> {
  await using plane = await startBenchPlane()
  // Read before the baseline starts, because the plane records every runtime that this process starts.
  const pid = plane.pid()
  await using baseline = await startBaseline()
  const queue = await startQueue(plane)
  const runtime = execFileSync(`/proc/${pid}/exe`, ['--version'], { encoding: 'utf8' }).trim()
  const rounds: Measured['rounds'] = []
  for (let round = 0; round < count; round += 1) rounds.push(await measureRound(queue, pid, baseline))
  return { runtime, rounds }
}

async function measureRound(queue: Queue, pid: number, baseline: { url: string; pid(): number }): Promise<Record<Operation, Pair>> {
  const requests = (target: Target) => () => countRequests(target, SECONDS)
  const cycles = (batch: number) => () => countCycles(queue.url, queue.workers, SECONDS, batch)
  const paired = async (measure: () => Promise<number>): Promise<Pair> => ({
    bareUs: await costUs(baseline.pid(), requests({ url: `${baseline.url}/bare`, method: 'GET' })),
    us: await measure(),
  })
  const run = await paired(() => costUs(pid, requests(submitTarget(queue))))
  const statusOfOne = requests(await statusTarget(queue))
  const status = await paired(() => costUs(pid, statusOfOne))
  const ping = await paired(() => pingCostUs(queue, pid))
  await fillQueue(queue, PREFILL)
  const single = await paired(() => costUs(pid, cycles(1)))
  await fillQueue(queue, PREFILL)
  const batch = await paired(() => costUs(pid, cycles(BATCH)))
  await purge(queue)
  return { run, status, ping, cycles: single, cyclesBatch: batch }
}

/**
 * Cost of a ping by a worker that holds a job. The job is finished afterwards: a held job that the worker stops listing would be lost
 * (LSE-5).
 */
async function pingCostUs({ url, workers: [worker] }: Queue, pid: number): Promise<number> {
  if (!worker) throw new Error('the endpoint has no worker')
  const connection = await HttpConnection.open(url)
  const [job] = await takeJobs(connection, worker, 1)
  if (!job) throw new Error('the take brought no job')
  const target = { url: `${url}${worker.pingPath}&job_id=${job.id}`, method: 'GET', headers: { authorization: worker.key } } as const
  const cost = await costUs(pid, () => countRequests(target, SECONDS))
  await postResult(connection, worker, job)
  connection.close()
  return cost
}

/** Returns the processor time of a process per operation, microseconds. `operate` returns the number of its operations. */
async function costUs(pid: number, operate: () => Promise<number>): Promise<number> {
  const before = usedUs(pid)
  const operations = await operate()
  return (usedUs(pid) - before) / operations
}

function usedUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime and stime, counted from the field after the name.
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}
