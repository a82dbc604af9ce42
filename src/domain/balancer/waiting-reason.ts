import { explainJob, type JobFacts } from '../job/explain.ts'
import type { Worker } from '../worker/worker.ts'

/** Why requests wait for a worker, in a few words (LB-15). `facts` are those of a job that would be the next one. */
export function explainRequests(facts: JobFacts, workers: readonly Worker[]): string {
  const { reason, cause } = explainJob(facts)
  if (reason !== 'WORKER_STARTING') return cause ?? 'its worker could not be reached a moment ago'
  const said = workers.findLast(({ phase }) => phase === 'STARTING')?.reason
  return said ? `${cause}: ${said}` : (cause ?? 'a worker is starting')
}
