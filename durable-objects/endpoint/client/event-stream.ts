import type { JobCall } from '../../../src/contract/job-routes.ts'
import { isTerminal, type Job } from '../../../src/domain/job/job.ts'
import { eventText, PING, readLastSeen } from '../../../src/domain/text/sse.ts'
import type { EndpointCore } from '../core.ts'
import { jobNotFound } from '../replies.ts'
import { recordJson, timedOutRecord } from './client-reads.ts'
import { eventReply, PORTION_BYTES } from './event-reply.ts'

/** STR-10: `/stream` as server-sent events. A read and nothing more: it removes no chunk, and a reader that leaves changes nothing. */
export async function streamEvents(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const job = await core.findJob(call.jobId)
  if (!job) return jobNotFound()
  const events = new JobEvents(core, job, readLastSeen(request.headers.get('last-event-id'), call.query.get('from')))
  return eventReply(
    request,
    () => events.next(),
    () => events.leave(),
  )
}

/** The events of one job for one reader. */
class JobEvents {
  private readonly core: EndpointCore
  private readonly left = new AbortController()
  private job: Job
  private lastSeen: number
  private ended = false

  constructor(core: EndpointCore, job: Job, lastSeen: number) {
    this.core = core
    this.job = job
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
    await this.core.parking.waitForJob(this.job.seq, this.core.keepaliveMs, this.left.signal)
    return (await this.read()) ?? PING
  }

  private async read(): Promise<string | null> {
    const job = await this.core.findJob(this.job.id)
    // JOB-9: the last reply is the one place where an expired job is still spoken of.
    if (!job) return this.end(isTerminal(this.job.state) ? recordJson(this.core, this.job) : timedOutRecord(this.core, this.job))
    this.job = job
    const chunks = this.core.state.payloads.readChunks(job.seq, this.lastSeen, PORTION_BYTES)
    this.lastSeen = chunks.at(-1)?.number ?? this.lastSeen
    if (chunks.length > 0) return chunks.map(({ number, json }) => eventText(json, { id: number })).join('')
    return isTerminal(job.state) ? this.end(recordJson(this.core, job)) : null
  }

  private end(record: string): string {
    this.ended = true
    return eventText(record, { event: 'end' })
  }
}
