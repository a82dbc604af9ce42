import { type Chunk, chunkMs, chunkStart, emptyChunk, LEVELS, type Level } from '../../../src/domain/history/chunk.ts'
import { UNSEEN_MS } from '../../../src/domain/history/idle.ts'
import { noteSamples, rollUp } from '../../../src/domain/history/rollup.ts'
import { machineSample, workloadSample } from '../../../src/domain/history/samples.ts'
import { type Series, seriesOf, type Window } from '../../../src/domain/history/series.ts'
import type { MachineStats, WorkloadStats } from '../../../src/host-protocol/stats.ts'
import { HistoryStore } from './history-store.ts'

/**
 * Usage of a host and its workloads: packed rings of three levels (HIS-1). The current minute is in memory, and stored when it ends or when
 * the host leaves, so a beat costs no row and a restart of the object loses at most a minute (HIS-3).
 */
export class HostHistory {
  private readonly storage: DurableObjectStorage
  private readonly store: HistoryStore
  private open: Chunk | null = null
  /** The previous minute, which holds when each track became idle. */
  private previous: Chunk | null = null
  private isLoaded = false
  /** Track of each workload of the last beat; null: this host has no such workload. */
  private tracks = new Map<string, string | null>()

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.store = new HistoryStore(storage.sql)
  }

  /** Records the samples of a beat. A beat without samples costs nothing. */
  take(stats: readonly WorkloadStats[], machine: MachineStats | undefined, nowMs: number): void {
    if (stats.length === 0 && machine === undefined) return
    this.tracks = new Map(stats.map(({ id }) => [id, this.trackOf(id)]))
    const ofWorkloads = stats.flatMap((item) => {
      const track = this.tracks.get(item.id)
      return track == null ? [] : [workloadSample(track, item)]
    })
    const chunk = this.openAt(nowMs)
    noteSamples(chunk, this.previous, machine ? [machineSample(machine), ...ofWorkloads] : ofWorkloads, nowMs)
  }

  /** Stores the current minute; for a host that leaves. */
  save(): void {
    if (this.open) this.store.save(this.open)
  }

  /** One track over a period, as columns. */
  read(track: string, window: Window): Series[] {
    const { level, fromMs, stepMs, count } = window
    const stored = this.store.between(level, fromMs - chunkMs(level), fromMs + stepMs * count, track)
    const running = this.runningChunks()[level]
    const others = stored.filter(({ startMs }) => startMs !== running?.startMs)
    return seriesOf(running ? [...others, running] : others, track, window)
  }

  /** Start of idleness of each of these workloads (HIS-8); those that work, or have no recent samples, are left out. */
  idle(workloadIds: readonly string[], nowMs: number): { id: string; sinceMs: number }[] {
    const open = this.load()
    if (open === null) return []
    return workloadIds.flatMap((id) => {
      const track = open.tracks.get(this.trackOf(id) ?? '') ?? null
      const seenMs = open.startMs + ((track?.lastSlot ?? 0) + 1) * LEVELS[0].stepMs
      return track === null || track.idleSinceMs === null || nowMs - seenMs > UNSEEN_MS ? [] : [{ id, sinceMs: track.idleSinceMs }]
    })
  }

  /** Deletes the history of a removed host. */
  clear(): void {
    this.store.clear()
    this.open = null
    this.previous = null
  }

  private load(): Chunk | null {
    if (!this.isLoaded) this.open = this.store.newest()
    this.isLoaded = true
    return this.open
  }

  /** The chunk of the current minute. A finished minute is stored first and rolled up into the coarser levels. */
  private openAt(nowMs: number): Chunk {
    const open = this.load()
    const startMs = chunkStart(0, nowMs)
    if (open?.startMs === startMs) return open
    if (open) this.storage.transactionSync(() => this.close(open, startMs))
    this.previous = open
    // A clock that was set back may return to a minute that is stored already.
    this.open = this.store.load(0, startMs) ?? emptyChunk(0, startMs)
    return this.open
  }

  private close(minute: Chunk, nextMs: number): void {
    this.store.save(minute)
    const quarter = this.rolled(minute, 1)
    this.store.save(quarter)
    if (quarter.startMs !== chunkStart(1, nextMs)) this.store.save(this.rolled(quarter, 2))
  }

  /** The chunk of the next level with this one rolled up into it. */
  private rolled(fine: Chunk, level: Level): Chunk {
    const startMs = chunkStart(level, fine.startMs)
    const coarse = this.store.load(level, startMs) ?? emptyChunk(level, startMs)
    rollUp(fine, coarse)
    return coarse
  }

  /** The current chunk of each level, with samples that are not in its rows yet. */
  private runningChunks(): readonly [Chunk, Chunk, Chunk] | readonly [null, null, null] {
    const minute = this.load()
    if (minute === null) return [null, null, null]
    const quarter = this.rolled(minute, 1)
    return [minute, quarter, this.rolled(quarter, 2)]
  }

  private trackOf(workloadId: string): string | null {
    const known = this.tracks.get(workloadId)
    if (known !== undefined) return known
    const sql = "SELECT owner_id, spec ->> 'kind' AS kind FROM workloads WHERE id = ?"
    const row = this.storage.sql.exec(sql, workloadId).toArray()[0]
    if (!row) return null
    // A pod has one track across its containers.
    return row.kind === 'pod' ? String(row.owner_id) : workloadId
  }
}
