import { isExcused, type Worker } from '../worker/worker.ts'

/** What a choice looks at. Pure: same facts, same worker. */
export interface ChoiceFacts {
  workers: readonly Worker[]
  /** Current release: a worker of another one gets nothing new (SCALE-6). */
  version: number
  /** Requests under way, by worker. */
  held: ReadonlyMap<string, number>
  /** The most that one worker gets at a time. */
  perWorker: number
  /** Workers that could not be reached, and until when they are passed over. */
  avoided: ReadonlyMap<string, number>
  nowMs: number
}

/** LB-4: of the workers that are ready and have a place, the one with the fewest requests; of several, the one that was made first. */
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
