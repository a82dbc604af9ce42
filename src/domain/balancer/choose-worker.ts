import { isExcused, type Worker } from '../worker/worker.ts'

/** The facts that the choice of a worker depends on. Pure: the same facts give the same worker. */
export interface ChoiceFacts {
  workers: readonly Worker[]
  /** Current release: a worker of another one gets no new requests (SCALE-6). */
  version: number
  /** Requests in progress, by worker id. */
  held: ReadonlyMap<string, number>
  /** Upper bound of requests that one worker handles at a time. */
  perWorker: number
  /** Workers that could not be reached, by id, with the instant in milliseconds until which they are skipped. */
  avoided: ReadonlyMap<string, number>
  nowMs: number
}

/** LB-4: returns the ready worker with the fewest requests below the bound, the first created among equals; null if there is none. */
export function chooseWorker({ workers, version, held, perWorker, avoided, nowMs }: ChoiceFacts): Worker | null {
  let best: Worker | null = null
  let fewest = perWorker
  for (const worker of workers) {
    if (worker.phase !== 'READY' || worker.version !== version || worker.hostId === null) continue
    if (isExcused(worker, nowMs) || (avoided.get(worker.id) ?? 0) > nowMs) continue
    const requests = held.get(worker.id) ?? 0
    if (requests >= fewest) continue
    best = worker
    fewest = requests
  }
  return best
}
