import { readFileSync } from 'node:fs'
import { fillQueue, purge, statusTarget, submitTarget } from '../job-calls.ts'
import { countRequests } from '../load/closed-loop.ts'
import { HttpConnection } from '../load/http-connection.ts'
import type { Target } from '../load/target.ts'
import { countCycles, postResult, takeJobs } from '../load/worker-loop.ts'
import { amountRow, median, type Row, ratioRow } from '../report.ts'
import { type Queue, startBaseline, startBenchPlane, startQueue } from '../setup.ts'

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
/** More jobs than the workers can finish in one measurement. */
const PREFILL = 12_000
/** The kernel counts processor time in hundredths of a second. */
const TICK_US = 10_000

const STEPS = ['bare', 'run', 'status', 'ping', 'cycles', 'cyclesBatch'] as const
type Step = (typeof STEPS)[number]

/**
 * Processor time of the runtime for one operation, compared with a bare handler measured back to back. It is steady where rates are not.
 */
export async function measureCpu(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  // Read before the baseline starts, because the plane records every runtime that this process starts.
  const pid = plane.pid()
  await using baseline = await startBaseline()
  const queue = await startQueue(plane)
  const rounds: Record<Step, number>[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(queue, pid, baseline))
  const of = (step: Step) => rounds.map((round) => round[step])
  const names = { bare: 'bare handler', run: '/run', status: '/status', ping: 'a ping with a job', cycles: 'take and done' }
  const labels: Record<Step, string> = { ...names, cyclesBatch: `take and done, batches of ${BATCH}, a job` }
  return [
    ...STEPS.map((step) => amountRow(labels[step], median(of(step)), 'µs')),
    ratioRow('/run : bare handler', of('run'), of('bare'), { atMost: 3.5 }),
    ratioRow('/status : bare handler', of('status'), of('bare')),
    ratioRow('a ping : bare handler', of('ping'), of('bare')),
    ratioRow('take and done : bare handler', of('cycles'), of('bare'), { atMost: 14 }),
  ]
}

async function measureRound(queue: Queue, pid: number, baseline: { url: string; pid(): number }): Promise<Record<Step, number>> {
  const requests = (target: Target) => () => countRequests(target, SECONDS)
  const bare = await costUs(baseline.pid(), requests({ url: `${baseline.url}/bare`, method: 'GET' }))
  const run = await costUs(pid, requests(submitTarget(queue)))
  const status = await costUs(pid, requests(await statusTarget(queue)))
  const ping = await pingCostUs(queue, pid)
  await fillQueue(queue, PREFILL)
  const cycles = await costUs(pid, () => countCycles(queue.url, queue.workers, SECONDS, 1))
  await fillQueue(queue, PREFILL)
  const cyclesBatch = await costUs(pid, () => countCycles(queue.url, queue.workers, SECONDS, BATCH))
  await purge(queue)
  return { bare, run, status, ping, cycles, cyclesBatch }
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
