import { RelayCallers, relayKeyHash, type Whereabouts } from '../../../src/host-agent/relay/admission/callers.ts'
import { workerEnv } from './workload.ts'

/** The key of a worker of a test. */
export function keyOf(worker: string): string {
  return `ppw_the_key_of_${worker}`
}

/** The headers of the worker that the path of a request names. */
export function asWorker(path: string): { authorization: string } {
  const [, worker = ''] = /\/v2\/[^/]+\/[^/]+\/([^/?&]+)/.exec(path) ?? []
  return { authorization: keyOf(worker) }
}

/** The callers that a relay serves, from loopback unless `where` has more addresses. */
export function admitted(workers: readonly string[], where: Whereabouts = 'loopback'): RelayCallers {
  const callers = new RelayCallers(where)
  for (const worker of workers) admitOne(callers, worker)
  return callers
}

export function admitOne(callers: RelayCallers, worker: string): void {
  const platformEnv = { ...workerEnv('ep', worker), RUNPOD_AI_API_KEY: keyOf(worker) }
  callers.admit(worker, relayKeyHash({ kind: 'worker', platformEnv }))
}
