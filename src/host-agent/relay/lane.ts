import { backoffMs, sleep } from '../../node/backoff.ts'
import type { Log } from '../log.ts'
import type { RelayBounds } from './bounds.ts'
import { kindOf, type LaneEntry } from './lane-entry.ts'
import { isDecided, type PostAnswer } from './offer-post.ts'
import type { Pacer } from './pacer.ts'
import type { Post, PostSpool } from './post-spool.ts'

/** Dependencies that all lanes of a relay share. */
export interface LaneContext {
  /** Offers a post to the plane once; undefined when there was no answer. */
  offer(caller: string, post: Post, signal: AbortSignal): Promise<PostAnswer | undefined>
  spool: PostSpool
  pacer: Pacer
  bounds: RelayBounds
  log: Log
  /** Aborts deliveries; the remaining posts are stored for the next agent process. */
  closing: AbortSignal
}

/**
 * The posts of one job in the order of arrival, one in flight at a time (HOST-21). They stay in memory while the plane answers in time;
 * otherwise they are written to disk, with all posts behind them.
 */
export class Lane {
  /** Resolves when the last post has left, or when the relay closes. */
  readonly ended: Promise<void>
  private readonly context: LaneContext
  private readonly caller: string
  private readonly turn: () => Promise<void> | undefined
  private readonly entries: LaneEntry[] = []
  private failures = 0

  /**
   * Starts with the first post; `onEmpty` is called when the last one has left. Before each attempt it waits for the promise of `turn`, if
   * there is one.
   */
  constructor(context: LaneContext, first: LaneEntry, onEmpty: () => void, turn: () => Promise<void> | undefined) {
    this.context = context
    this.caller = first.caller
    this.turn = turn
    this.add(first)
    this.ended = this.run(onEmpty)
  }

  add(entry: LaneEntry): void {
    const { bounds, closing } = this.context
    const isBehindKept = this.failures > 0 || this.entries.some(({ keptAtMs }) => keptAtMs !== undefined)
    this.entries.push(entry)
    if (entry.keptAtMs !== undefined) return
    if (isBehindKept || closing.aborted) void this.keepOrRefuse(entry)
    else entry.timer = setTimeout(() => void this.keep(entry), bounds.spoolAfterMs)
  }

  /** Whether a result is still on disk that the worker considers delivered. */
  keepsResult(): boolean {
    return this.entries.some(({ keptAtMs, kind }) => keptAtMs !== undefined && kind === 'result')
  }

  private async run(onEmpty: () => void): Promise<void> {
    const { pacer, bounds, closing } = this.context
    while (this.entries.length > 0 && !closing.aborted) {
      const turn = this.turn()
      if (turn !== undefined) await turn
      const isPaced = this.failures > 0 || this.entries[0]?.keptAtMs !== undefined
      if (isPaced) await pacer.enter(this.caller)
      // Read only here: a newer update may have replaced it during the wait.
      const [head] = this.entries
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- it changes while it is waited for
      const answer = head && !closing.aborted ? await this.deliver(head) : undefined
      if (isPaced) pacer.leave()
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- it changes while it is waited for
      if (this.failures === 0 || closing.aborted) continue
      await Promise.all(this.entries.map((entry) => this.keepOrRefuse(entry)))
      // Without an answer the plane cannot be reached and the pacer delays all lanes; with one, the failure may concern this job alone.
      if (answer !== undefined) await sleep(backoffMs(this.failures - 1, bounds.retryBaseMs, bounds.retryMaxMs), closing)
    }
    if (this.entries.length === 0) return onEmpty()
    await Promise.all(this.entries.map((entry) => this.keepOrRefuse(entry)))
  }

  /** Tries a post once. It leaves the lane when the plane has accepted or refused it for good; otherwise `failures` increases. */
  private async deliver(entry: LaneEntry): Promise<PostAnswer | undefined> {
    const { offer, spool, pacer, log, closing } = this.context
    entry.inFlight = true
    const post = this.isTooOld(entry) ? undefined : (entry.post ?? (await spool.read(entry.number)))
    const answer = post && (await offer(entry.caller, post, closing))
    entry.inFlight = false
    if (post === undefined || (answer && isDecided(answer))) {
      this.failures = 0
      if (answer) pacer.answered()
      this.remove(entry, answer)
      return answer
    }
    pacer.failed()
    this.failures += 1
    if (this.failures === 1) log.debug('the plane did not accept a post', { path: entry.path, status: answer?.status })
    if (entry.keptAtMs !== undefined) discard(entry)
    return answer
  }

  private isTooOld({ keptAtMs }: LaneEntry): boolean {
    return keptAtMs !== undefined && Date.now() - keptAtMs >= this.context.bounds.spoolMaxAgeMs
  }

  private remove(entry: LaneEntry, answer: PostAnswer | undefined): void {
    const { log } = this.context
    if (entry.keptAtMs !== undefined) {
      if (answer === undefined)
        log.error(
          'a stored post is too old or cannot be read; it is dropped, and if it was a result, the plane runs the job again when its lease ends',
          { path: entry.path },
        )
      else if (answer.status >= 400) log.warn('the plane refused a stored post; it is dropped', { path: entry.path, status: answer.status })
    }
    this.drop(entry)
    entry.answer(answer ?? 'full')
  }

  private drop(entry: LaneEntry): void {
    const index = this.entries.indexOf(entry)
    if (index >= 0) this.entries.splice(index, 1)
    clearTimeout(entry.timer)
    entry.gone = true
    if (entry.keptAtMs !== undefined) this.context.spool.remove(entry.number)
    discard(entry)
  }

  private async keepOrRefuse(entry: LaneEntry): Promise<void> {
    await this.keep(entry)
    if (entry.keptAtMs !== undefined || entry.gone) return
    this.drop(entry)
    entry.answer('full')
  }

  private async keep(entry: LaneEntry): Promise<void> {
    if (entry.keptAtMs !== undefined || entry.gone) return
    entry.keeping ??= this.write(entry).finally(() => {
      entry.keeping = undefined
    })
    await entry.keeping
  }

  private async write(entry: LaneEntry): Promise<void> {
    const { spool } = this.context
    const { post } = entry
    if (post === undefined) return
    const nowMs = Date.now()
    if (!(await spool.keep(entry.number, post, nowMs, entry.caller))) return
    // It was delivered during the write.
    if (entry.gone) return spool.remove(entry.number)
    clearTimeout(entry.timer)
    entry.keptAtMs = nowMs
    entry.kind = kindOf(entry.verb, post.body)
    entry.answer('kept')
    if (!entry.inFlight) discard(entry)
    this.dropUpdateBefore(entry)
  }

  // A worker that often reports progress must not fill the disk.
  private dropUpdateBefore(entry: LaneEntry): void {
    if (entry.kind !== 'update') return
    const before = this.entries[this.entries.lastIndexOf(entry) - 1]
    if (before?.kind === 'update' && !before.inFlight) this.drop(before)
  }
}

function discard(entry: LaneEntry): void {
  entry.post = undefined
  entry.release()
}
