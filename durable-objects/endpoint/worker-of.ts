import type { Holder } from '../../src/domain/job/job.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import type { EndpointCore } from './core.ts'

/** The worker row of this boot, if it is one that may still work. A worker starts once, so what it holds is this boot's. */
export function workerOf(core: EndpointCore, from: Holder): Worker | null {
  const worker = core.workers.get(from.workerId)
  return worker?.boot === from.boot ? worker : null
}
