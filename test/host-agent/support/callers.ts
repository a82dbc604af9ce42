import { RelayCallers, relayKeyHash, type Whereabouts } from '../../../src/host-agent/relay/door/callers.ts'
import { workerEnv } from './workload.ts'

/** The key of a worker of a test. */
export function keyOf(worker: string): string {
  return `ppw_the_key_of_${worker}`
}

/** What a worker sends along, read from the path that it asks for. */
export function asWorker(path: string): { authorization: string } {
  const [, worker = ''] = /\/v2\/[^/]+\/[^/]+\/([^/?&]+)/.exec(path) ?? []
  return { authorization: keyOf(worker) }
}

/** Those whom a relay serves; from loopback unless `where` says more. */
export function admitted(workers: readonly string[], where: Whereabouts = 'loopback'): RelayCallers {
  const callers = new RelayCallers(where)
  for (const worker of workers) admitOne(callers, worker)
  return callers
}

export function admitOne(callers: RelayCallers, worker: string): void {
  const platformEnv = { ...workerEnv('ep', worker), RUNPOD_AI_API_KEY: keyOf(worker) }
  callers.admit(worker, relayKeyHash({ kind: 'worker', platformEnv }))
}
