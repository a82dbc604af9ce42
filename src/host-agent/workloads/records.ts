import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { RUNTIME_NAMES, WorkloadHealth, type WorkloadReport, WorkloadState } from '../../host-protocol/messages.ts'
import { makeDirDurably } from '../../node/durable-file.ts'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'

/** The record of every workload id that this host has ever started; it survives restarts, so that no id is started twice. */
const WorkloadRecord = z.object({
  id: z.string(),
  kind: z.enum(['worker', 'pod']).nullable(),
  runtime: z.enum(RUNTIME_NAMES).nullable(),
  state: WorkloadState,
  exitCode: z.number().int().nullable(),
  reason: z.string().nullable(),
  /** See WorkloadReport. */
  endedByHost: z.boolean().optional(),
  ports: z.array(z.object({ private: z.number().int(), public: z.number().int(), type: z.string() })),
  sequence: z.number().int(),
  /** Time in ms at which it entered this state, by this machine's clock. */
  at: z.number(),
  /** Its persistent volumes were removed. */
  wiped: z.boolean().optional(),
  /** Number of agent processes that began to start it and ended before the start succeeded or failed (HOST-67). */
  attempts: z.number().int().optional(),
  /** Its health at the last check. */
  health: WorkloadHealth.optional(),
  /** Time in ms since which the plane's desired state lacks this id. */
  absentSince: z.number().nullable(),
})
export type WorkloadRecord = z.infer<typeof WorkloadRecord>

/** Retention of the record of a gone workload; a plane that repeats a desired state older than this is not trusted. */
const TOMBSTONE_MS = 3 * 24 * 3_600_000

function isOutdated({ state, at }: WorkloadRecord, now: number): boolean {
  return state === 'gone' && at < now - TOMBSTONE_MS
}

/** Record of a workload that is about to start. */
export function newRecord(id: string, kind: WorkloadRecord['kind']): WorkloadRecord {
  return {
    id,
    kind,
    runtime: null,
    state: 'starting',
    exitCode: null,
    reason: null,
    ports: [],
    sequence: 0,
    at: 0,
    absentSince: null,
  }
}

/** Report of a record to the plane. Health counts only while the workload runs. */
export function toReport(record: WorkloadRecord): WorkloadReport {
  const { id, state, exitCode, reason, endedByHost, at, sequence, ports, health } = record
  const isAsked = state === 'running' && health !== undefined
  return {
    ...{ workloadId: id, state, exitCode, reason, at, sequence },
    ...(endedByHost === true && { endedByHost }),
    ...(ports.length > 0 && { ports }),
    ...(isAsked && { health }),
  }
}

/** One small file for each workload: a change rewrites only that file. */
export class WorkloadRecords {
  private readonly byId = new Map<string, WorkloadRecord>()
  /** Ids whose current record could not be written. */
  private readonly unwritten = new Set<string>()
  /** Damaged files, which were removed: the records of their workloads are lost (DUR-5). */
  readonly damaged: string[] = []
  private readonly dir: string

  constructor(dir: string, now: number) {
    this.dir = dir
    makeDirDurably(dir)
    for (const name of readdirSync(dir)) this.load(join(dir, name), now)
  }

  private load(path: string, now: number): void {
    const record = WorkloadRecord.safeParse(readJsonFile(path)).data
    if (record !== undefined && !isOutdated(record, now)) return void this.byId.set(record.id, record)
    rmSync(path)
    // An incomplete draft was never reported as saved.
    if (record === undefined && path.endsWith('.json')) this.damaged.push(path)
  }

  /** Removes outdated records of gone workloads, except those that the plane still lists: these ids must not start again. */
  prune(now: number, isListed: (id: string) => boolean): void {
    for (const record of this.byId.values()) {
      if (!isOutdated(record, now) || isListed(record.id)) continue
      try {
        rmSync(join(this.dir, `${record.id}.json`), { force: true })
      } catch {
        // The file system refuses changes at present; a later call removes it.
        continue
      }
      this.byId.delete(record.id)
      this.unwritten.delete(record.id)
    }
  }

  get(id: string): WorkloadRecord | undefined {
    return this.byId.get(id)
  }

  all(): WorkloadRecord[] {
    return [...this.byId.values()]
  }

  map(): ReadonlyMap<string, WorkloadRecord> {
    return this.byId
  }

  /** Returns false when the record cannot be written, for example to a full disk: it is valid in memory, and a later `flush` writes it. */
  save(record: WorkloadRecord): boolean {
    this.byId.set(record.id, record)
    try {
      writeJsonFile(join(this.dir, `${record.id}.json`), record)
      this.unwritten.delete(record.id)
      return true
    } catch {
      this.unwritten.add(record.id)
      return false
    }
  }

  /** Writes the records that could not be written before, up to the first that fails again. */
  flush(): void {
    for (const id of this.unwritten) {
      const record = this.byId.get(id)
      if (record === undefined || !this.save(record)) return
    }
  }
}
