import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { readQuery, StreamQuery } from '../../../src/contract/jobs/queries.ts'
import { isTerminal, type Job } from '../../../src/domain/job/job.ts'
import { eventText, PING, readLastSeen } from '../../../src/domain/text/sse.ts'
import { eventReply, PORTION_BYTES } from '../event-reply.ts'
import type { Outside, Paced } from '../parts.ts'
import { jobNotFound, problemReply } from '../replies.ts'
import { JobWatch, type WatchParts } from './job-watch.ts'
import { longRecordForEvents, readBoundOf, shortRecordJson } from './record-reply.ts'

/** Parts that an event stream uses. */
type EventParts = Outside & Paced & WatchParts

/** STR-10: `/stream` as server-sent events. Read-only: it removes no chunk, and a disconnect changes nothing. */
export async function streamEvents(core: EventParts, call: JobCall, request: Request): Promise<Response> {
  const read = readQuery(StreamQuery, call.query)
  if (!read.ok) return problemReply('badRequest', read.fault)
  const watch = new JobWatch(core, call.jobId)
  if (!(await watch.poll())) return jobNotFound()
  const events = new JobEvents(core, watch, readLastSeen(request.headers.get('last-event-id'), read.values.from))
  return eventReply(
    request,
    () => events.next(),
    () => events.leave(),
  )
}

/** The events of one job for one reader. */
class JobEvents {
  private readonly core: EventParts
  private readonly left = new AbortController()
  private readonly watch: JobWatch
  private lastSeen: number
  private ended = false

  constructor(core: EventParts, watch: JobWatch, lastSeen: number) {
    this.core = core
    this.watch = watch
    this.lastSeen = lastSeen
  }

  leave(): void {
    this.left.abort()
  }

  /** The next text to send; null after the last event. */
  async next(): Promise<string | null> {
    if (this.ended) return null
    const ready = await this.read()
    if (ready !== null) return ready
    await this.watch.wait(this.core.pace.keepaliveMs, this.left.signal)
    return (await this.read()) ?? PING
  }

  private async read(): Promise<string | null> {
    const job = await this.watch.poll()
    if (!job) return this.end(this.watch.expiredRecord() ?? '{}')
    const chunks = this.core.state.payloads.readChunks(job.seq, this.lastSeen, PORTION_BYTES)
    this.lastSeen = chunks.at(-1)?.number ?? this.lastSeen
    if (chunks.length > 0) return chunks.map(({ number, json }) => eventText(json, { id: number })).join('')
    return isTerminal(job.state) ? this.readEnd(job) : null
  }

  // Null while the account exceeds its limit of concurrent reads (RATE-32): the stream goes on and tries again.
  private async readEnd(ended: Job): Promise<string | null> {
    const short = shortRecordJson(this.core, ended)
    if (short !== null) return this.end(short)
    const bound = await readBoundOf(this.core)
    // The job may have changed during the wait.
    const job = await this.watch.poll()
    if (!job) return this.end(this.watch.expiredRecord() ?? '{}')
    const record = isTerminal(job.state) ? longRecordForEvents(this.core, job, bound) : null
    return record === null ? null : this.end(record)
  }

  private end(record: string): string {
    this.ended = true
    return eventText(record, { event: 'end' })
  }
}
