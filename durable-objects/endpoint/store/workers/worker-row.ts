import { takeInRow } from '../../../../src/domain/worker/signs.ts'
import type { Worker, WorkerPhase } from '../../../../src/domain/worker/worker.ts'
import { numberOrNull, textOrNull } from '../row-values.ts'

type Row = Record<string, SqlStorageValue>

/** Every column, so that no value of an earlier phase remains. */
export function toColumns(worker: Worker): Row {
  return {
    id: worker.id,
    boot: worker.boot,
    version: worker.version,
    phase: worker.phase,
    host_id: worker.hostId,
    gpu_type_id: worker.gpuTypeId,
    data_center_id: worker.dataCenterId,
    created_at: worker.createdAtMs,
    started_at: worker.startedAtMs,
    worked: worker.worked ? 1 : 0,
    reason: worker.reason,
    image: worker.image,
    gpu_count: worker.gpuCount,
    last_seen_at: 'lastSeenAtMs' in worker ? worker.lastSeenAtMs : null,
    last_take_at: takeInRow(worker),
    idle_since: 'idleSinceMs' in worker ? worker.idleSinceMs : null,
    excused_until: 'excusedUntilMs' in worker ? worker.excusedUntilMs : null,
    loaded_at: 'loadedAtMs' in worker ? worker.loadedAtMs : null,
    next_attempt_at: 'nextAttemptAtMs' in worker ? worker.nextAttemptAtMs : 0,
    attempts: 'attempts' in worker ? worker.attempts : 0,
    forget_at: 'forgetAtMs' in worker ? worker.forgetAtMs : null,
    released: worker.phase === 'FAILED' && worker.released ? 1 : 0,
  }
}

/** Converts a row to a worker. */
export function toWorker(row: Row): Worker {
  const facts = {
    id: String(row.id),
    boot: String(row.boot),
    version: Number(row.version),
    image: String(row.image),
    gpuCount: Number(row.gpu_count),
    hostId: textOrNull(row.host_id),
    gpuTypeId: textOrNull(row.gpu_type_id),
    dataCenterId: textOrNull(row.data_center_id),
    createdAtMs: Number(row.created_at),
    startedAtMs: numberOrNull(row.started_at),
    worked: row.worked === 1,
    reason: textOrNull(row.reason),
  }
  const retried = { nextAttemptAtMs: Number(row.next_attempt_at), attempts: Number(row.attempts) }
  const watched = {
    lastSeenAtMs: numberOrNull(row.last_seen_at),
    excusedUntilMs: numberOrNull(row.excused_until),
    loadedAtMs: numberOrNull(row.loaded_at),
    watchedUntilMs: null,
  }
  const phase = String(row.phase) as WorkerPhase
  switch (phase) {
    case 'PLACING':
      return { ...facts, ...retried, phase }
    case 'STARTING':
      return { ...facts, phase }
    case 'READY':
      return {
        ...facts,
        ...watched,
        phase,
        lastTakeAtMs: row.last_seen_at === null ? null : Number(row.last_take_at ?? 0),
        idleSinceMs: numberOrNull(row.idle_since),
      }
    case 'DRAINING':
      return { ...facts, ...retried, ...watched, phase }
    case 'FAILED':
      return { ...facts, ...retried, phase, forgetAtMs: Number(row.forget_at), released: row.released === 1 }
    default:
      return phase satisfies never
  }
}
