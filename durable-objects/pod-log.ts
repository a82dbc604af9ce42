import type { LogSourceParam } from '../src/contract/logs/stream.ts'
import { openRecords } from '../src/db/client.ts'
import { findPodForHost } from '../src/db/pods/find-pods.ts'
import type { FoundLines, LineQuery } from '../src/domain/logs/line-page.ts'
import type { LogStart } from '../src/domain/text/log-stream.ts'
import type { Env } from '../src/env.ts'
import type { LogKind, LogLine } from '../src/host-protocol/logs.ts'
import { logRequestOf, TOO_MANY_READERS } from '../src/objects/log-reading.ts'
import { asPlane } from '../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../src/objects/stubs.ts'
import { logEvent } from '../src/platform/log.ts'
import type { LinesReply, LogName, LogWriter, PodLogRpc } from '../src/rpc/pod-log.ts'
import { PlaneObject } from './plane-object.ts'
import { LogArchive } from './pod-log/archive.ts'
import { ArchiveRoom } from './pod-log/archive-room.ts'
import { Followers, TIMEOUT_EVENT } from './pod-log/followers.ts'
import { LogHistory } from './pod-log/history.ts'
import { LineReader } from './pod-log/line-reader.ts'
import { type LogOwner, LogStore } from './pod-log/log-store.ts'

/** How long a log is retained after its last line once its worker or pod has ended (LOG-11); also the interval of that check. */
export const LOG_RETENTION_MS = 24 * 3_600_000
const ALARM_RETRY_MS = 60_000

/** The log of one worker or pod: a bounded tail and its followers (SCALE-8, LOG-1 to LOG-6). */
export class PodLogObject extends PlaneObject implements PodLogRpc {
  readonly store: LogStore
  readonly archive: LogArchive
  readonly history: LogHistory
  readonly followers: Followers
  readonly reader: LineReader
  /** Milliseconds since the epoch; tests replace the clock. */
  now: () => number = () => this.timers.readClock()
  private alarmKnown = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.store = new LogStore(ctx.storage)
    this.archive = new LogArchive(ctx.storage, this.store, new ArchiveRoom(env), env.LOGS)
    this.history = new LogHistory(this.store, this.archive)
    this.followers = new Followers(this.history, this.timers)
    this.reader = new LineReader(this.store, this.archive, this.history)
  }

  async append({ kind, ownerId, workloadId }: LogWriter, lines: readonly LogLine[]): Promise<number | null> {
    this.store.makeTables()
    const taken = this.ctx.storage.transactionSync(() => {
      if (!this.admit(kind, ownerId)) return null
      const before = this.store.takenSeq(workloadId)
      const fresh = linesAfter(lines, before)
      const last = fresh.at(-1)
      if (!last) return before
      this.store.append(fresh, { workloadId, seq: last.seq, atMs: this.now() }, this.archive.keptFactor)
      return last.seq
    })
    this.followers.wake()
    this.ctx.waitUntil(this.archive.flush())
    await this.keepAlarm()
    return taken
  }

  /** The stream that `readLog` requests. 404 when the owner has no such log (LOG-6), 429 when it has too many readers. */
  override async fetch(request: Request): Promise<Response> {
    const { kind, ownerId, isKnown, start, source } = await logRequestOf(request)
    if (!this.isReadable({ kind, ownerId, isKnown })) return new Response(null, { status: 404 })
    if (this.followers.isFull()) return new Response(null, { status: TOO_MANY_READERS })
    const cursor = await this.cursorOf(start, source)
    return new Response(cursor === null ? TIMEOUT_EVENT : this.followers.follow(cursor, source, request.signal))
  }

  /** Pages of the log (LOG-30). */
  async readLines(log: LogName, queries: readonly LineQuery[]): Promise<LinesReply> {
    if (!this.isReadable(log)) return 'unknown'
    if (this.reader.isBusy()) return 'busy'
    try {
      const pages: FoundLines[] = []
      for (const query of queries) pages.push(await this.reader.read(query))
      return pages
    } catch (error) {
      logEvent('warn', 'a segment of a log could not be read', { error })
      return 'away'
    }
  }

  shedArchive(): Promise<boolean> {
    return this.archive.shed()
  }

  private isReadable({ kind, ownerId, isKnown }: LogName): boolean {
    const owner = this.store.owner()
    return owner ? owner.kind === kind && owner.ownerId === ownerId : isKnown
  }

  /** Null when the reader's starting point is in the bucket, which cannot be read. */
  private async cursorOf(start: LogStart, source: LogSourceParam | undefined): Promise<number | null> {
    try {
      return await this.history.cursorOf(start, source)
    } catch (error) {
      logEvent('warn', 'a segment of a log could not be read', { error })
      return null
    }
  }

  /** Deletes the log once it had no new line for the retention time and its worker or pod is gone (LOG-11). */
  override async alarm(): Promise<void> {
    try {
      if ((await this.isWanted()) || !(await this.delete())) await this.ctx.storage.setAlarm(this.now() + LOG_RETENTION_MS)
    } catch (error) {
      // The platform gives up on an alarm that fails repeatedly; then this log would never be deleted.
      logEvent('warn', 'log alarm failed', { error })
      await this.ctx.storage.setAlarm(this.now() + ALARM_RETRY_MS)
    }
  }

  /** False when lines arrived meanwhile, which have been acknowledged. */
  private async delete(): Promise<boolean> {
    await this.archive.removeAll()
    if (this.isFresh()) return false
    await this.store.clear()
    this.alarmKnown = false
    this.followers.endAll()
    return true
  }

  private async isWanted(): Promise<boolean> {
    const [owner, last] = [this.store.owner(), this.store.lastTaken()]
    if (!owner || !last) return false
    if (this.isFresh()) return true
    if (await this.hasOwner(owner, last.workloadId)) return true
    // Lines that arrived during the call have been acknowledged.
    return this.isFresh()
  }

  private async hasOwner({ kind, ownerId }: LogOwner, workloadId: string): Promise<boolean> {
    if (kind === 'worker') {
      const endpoint = endpointStub(this.env, asPlane('endpoint', ownerId, 'checks the owner of a log'))
      return (await endpoint.recallWorker(workloadId)) === 'present'
    }
    const pod = await findPodForHost(openRecords(this.env), ownerId)
    return pod !== null && pod.status !== 'TERMINATED'
  }

  private isFresh(): boolean {
    const last = this.store.lastTaken()
    return last !== null && this.now() - last.atMs < LOG_RETENTION_MS
  }

  private admit(kind: LogKind, ownerId: string): boolean {
    const owner = this.store.owner()
    if (!owner) this.store.setOwner({ kind, ownerId })
    return !owner || (owner.kind === kind && owner.ownerId === ownerId)
  }

  // Checked once per start of the object: a batch must not cost a read of the alarm.
  private async keepAlarm(): Promise<void> {
    if (this.alarmKnown) return
    this.alarmKnown = true
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(this.now() + LOG_RETENTION_MS)
  }
}

/** Lines whose number is higher than `seq` and than that of every line before them. */
function linesAfter(lines: readonly LogLine[], seq: number): LogLine[] {
  let last = seq
  return lines.filter((line) => {
    const isNew = line.seq > last
    if (isNew) last = line.seq
    return isNew
  })
}
