import { loadPackage } from '../packages.ts'
import type { PeerQueue } from './queue.ts'

interface Job {
  id: string
  data: { input: unknown }
  moveToCompleted(output: unknown, token: string, fetchNext: boolean): Promise<unknown>
}
interface Connection {
  connection: { path: string; maxRetriesPerRequest: null }
}
interface BullMqPackage {
  Queue: new (name: string, options: Connection) => { add(name: string, data: object): Promise<Job> }
  Worker: new (
    name: string,
    run: null,
    options: Connection & { autorun: boolean },
  ) => { getNextJob(token: string, options: { block: boolean }): Promise<Job | undefined> }
}

const QUEUE = 'bench'
const TOKEN = 'bench'

/** BullMQ on a Redis server that flushes every write. */
export async function openBullMq(socketPath: string): Promise<PeerQueue> {
  const { Queue, Worker } = await loadPackage<BullMqPackage>('bullmq')
  const options: Connection = { connection: { path: socketPath, maxRetriesPerRequest: null } }
  const queue = new Queue(QUEUE, options)
  const worker = new Worker(QUEUE, null, { ...options, autorun: false })
  const taken = new Map<string, Job>()
  return {
    async submit(input) {
      return (await queue.add('job', { input })).id
    },
    async take(count) {
      const jobs = await Promise.all(Array.from({ length: count }, () => worker.getNextJob(TOKEN, { block: false })))
      const found = jobs.filter((job) => job !== undefined)
      for (const job of found) taken.set(job.id, job)
      return found.map(({ id, data }) => ({ id, input: data.input }))
    },
    async finish(jobId, output) {
      await taken.get(jobId)?.moveToCompleted(output, TOKEN, false)
      taken.delete(jobId)
    },
  }
}
