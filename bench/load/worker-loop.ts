import type { WorkerAccess } from '../fake-host.ts'
import { HttpConnection } from './http-connection.ts'

const RESULT = '{"output":{"ok":true}}'

interface Job {
  id: string
}

/**
 * Returns the cycles per second of taking a job and posting its result, with all workers in parallel. The queue must hold more jobs than
 * they can finish.
 */
export async function measureCycles(url: string, workers: readonly WorkerAccess[], seconds: number, batch: number): Promise<number> {
  const startedAt = performance.now()
  const cycles = await countCycles(url, workers, seconds, batch)
  return cycles / ((performance.now() - startedAt) / 1000)
}

/** Returns the number of these cycles. */
export async function countCycles(url: string, workers: readonly WorkerAccess[], seconds: number, batch: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  // With batches, fewer workers keep the same number of posts in flight.
  const busy = workers.slice(0, Math.ceil(workers.length / batch))
  const counts = await Promise.all(busy.map((worker) => loop(url, worker, batch, () => performance.now() < until)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function loop(url: string, worker: WorkerAccess, batch: number, goesOn: () => boolean): Promise<number> {
  // A worker posts the results of a batch in parallel, so it has one connection for each.
  const taker = await HttpConnection.open(url)
  const posters = await Promise.all(Array.from({ length: batch }, () => HttpConnection.open(url)))
  let done = 0
  try {
    while (goesOn()) {
      const jobs = await takeJobs(taker, worker, batch)
      await Promise.all(jobs.map((job, index) => postResult(posters[index % batch] ?? taker, worker, job)))
      done += jobs.length
    }
  } finally {
    for (const connection of [taker, ...posters]) connection.close()
  }
  return done
}

export async function takeJobs(connection: HttpConnection, worker: WorkerAccess, batch: number): Promise<Job[]> {
  const path = batch === 1 ? worker.takePath : `${worker.takePath.replace('/job-take/', '/job-take-batch/')}&batch_size=${batch}`
  const answer = await connection.request('GET', `${path}&job_in_progress=1`, { authorization: worker.key })
  if (answer.status !== 200) throw new Error(`take answered ${answer.status}: ${answer.body || 'the queue is empty'}`)
  const body: unknown = JSON.parse(answer.body)
  // The shape is defined by the worker protocol; a wrong one would fail at the next call.
  return (Array.isArray(body) ? body : [body]) as Job[]
}

export async function postResult(connection: HttpConnection, worker: WorkerAccess, job: Job): Promise<void> {
  const headers = { authorization: worker.key, 'content-type': 'application/json' }
  const answer = await connection.request('POST', worker.donePath.replaceAll('$ID', job.id), headers, RESULT)
  if (answer.status !== 200) throw new Error(`done answered ${answer.status}: ${answer.body}`)
}
