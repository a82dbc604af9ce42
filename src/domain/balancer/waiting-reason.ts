import { explainJob, type JobFacts } from '../job/explain.ts'
import type { Worker } from '../worker/worker.ts'

/** Short reason why requests wait for a worker (LB-15). `facts` are those of a hypothetical job that would be next. */
export function explainRequests(facts: JobFacts, workers: readonly Worker[]): string {
  const { reason, cause } = explainJob(facts)
  if (reason !== 'WORKER_STARTING') return cause ?? 'its worker was not reachable'
  const said = workers.findLast(({ phase }) => phase === 'STARTING')?.reason
  return said ? `${cause}: ${said}` : (cause ?? 'a worker is starting')
}
