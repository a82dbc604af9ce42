import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { WorkloadHealth, type WorkloadReport, WorkloadState } from '../../host-protocol/messages.ts'
import { makeDirDurably } from '../../node/durable-file.ts'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'

/** What this host knows of a workload id it has ever started; survives restarts, so that no id is started twice. */
const WorkloadRecord = z.object({
  id: z.string(),
  kind: z.enum(['worker', 'pod']).nullable(),
  runtime: z.enum(['docker', 'process']).nullable(),
  state: WorkloadState,
  exitCode: z.number().int().nullable(),
  reason: z.string().nullable(),
  /** See WorkloadReport. */
  endedByHost: z.boolean().optional(),
  ports: z.array(z.object({ private: z.number().int(), public: z.number().int(), type: z.string() })),
  sequence: z.number().int(),
  /** When it came into this state, by this machine's clock. */
  at: z.number(),
  /** Its persistent volumes were removed. */
  wiped: z.boolean().optional(),
  /** Agent processes that began to start it and died before that was decided (HOST-67). */
  attempts: z.number().int().optional(),
  /** What it said of its health when it was asked last. */
  health: WorkloadHealth.optional(),
  /** Since when the plane's snapshot lacks this id. */
  absentSince: z.number().nullable(),
})
export type WorkloadRecord = z.infer<typeof WorkloadRecord>

/** How long the tombstone of a gone workload is kept; a plane that repeats an older snapshot is not believable any more. */
const TOMBSTONE_MS = 3 * 24 * 3_600_000

function isOutdated({ state, at }: WorkloadRecord, now: number): boolean {
  return state === 'gone' && at < now - TOMBSTONE_MS
}

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

/** One small file a workload: a change rewrites that one only. */
export class WorkloadRecords {
  private readonly byId = new Map<string, WorkloadRecord>()
  /** Ids whose present record the disk has refused. */
  private readonly unwritten = new Set<string>()
  /** Files that were damaged and are removed: what was known of their workloads is lost (DUR-5). */
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
    // A draft was never said to be kept.
    if (record === undefined && path.endsWith('.json')) this.damaged.push(path)
  }

  /** Forgets outdated tombstones; one that the plane still lists stays, because that id must not start again. */
  prune(now: number, isListed: (id: string) => boolean): void {
    for (const record of this.byId.values()) {
      if (!isOutdated(record, now) || isListed(record.id)) continue
      try {
        rmSync(join(this.dir, `${record.id}.json`), { force: true })
      } catch {
        // A file system that takes no changes now; the next time does.
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

  /** False when the disk refuses it, as a full one does: then it counts all the same, and is written by a later `flush`. */
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

  /** Writes what the disk has refused before, as far as it takes it now. */
  flush(): void {
    for (const id of this.unwritten) {
      const record = this.byId.get(id)
      if (record === undefined || !this.save(record)) return
    }
  }
}
