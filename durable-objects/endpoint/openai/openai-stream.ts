import { type OpenaiError, openaiError } from '../../../src/contract/problem-body.ts'
import { isTerminal, type Job } from '../../../src/domain/job/job.ts'
import { unwrapOutput } from '../../../src/domain/openai/call.ts'
import { readErrorOutput } from '../../../src/domain/openai/error.ts'
import { brokenText, chunkOutput, doneText, NOTHING_SENT, noteSent, outputToEvents, pingText } from '../../../src/domain/openai/stream.ts'
import { OUTPUT } from '../../../src/queue/state.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import { eventReply, PORTION_BYTES } from '../event-reply.ts'
import type { Background, Commits, Jobs, Paced, Rows, Waiting } from '../parts.ts'
import { abandon, failure, jobError } from './openai-outcome.ts'

/** Parts that a streamed answer uses. */
export type StreamParts = Background & Commits & Jobs & Paced & Rows & Waiting

/** Next part of the reply: `nothing` yet, text, an error or the end. */
type Step = { kind: 'nothing' } | { kind: 'text'; text: string } | { kind: 'failed'; error: OpenaiError } | { kind: 'complete' }

const LOST = openaiError(500, 'the worker was lost in the middle of its response')

/** OAI-5: streams the worker's own events to the client as they arrive. */
export async function streamAnswer(core: StreamParts, job: Job, request: Request): Promise<Response> {
  const answer = new StreamedAnswer(core, job)
  // The HTTP status waits for the worker's first output, for a short time, so that a call that fails at once is an HTTP error (OAI-13).
  const first = await answer.step(request.signal)
  if (first.kind === 'failed') return failure(first.error)
  const reply = eventReply(
    request,
    () => answer.next(),
    () => answer.leave(),
  )
  answer.begin(first)
  if (request.signal.aborted) answer.leave()
  return reply
}

/** The answer of one job for its one client. Chunks are removed once read, so that a long answer does not accumulate. */
class StreamedAnswer {
  private readonly core: StreamParts
  private readonly accepted: Job
  private readonly left = new AbortController()
  private ready: Step | null = null
  private sent = NOTHING_SENT
  /** The attempt whose output was read; null before the first output. */
  private attempt: number | null = null
  /** An error that followed text in the same portion. */
  private error: OpenaiError | null = null
  private ended = false

  constructor(core: StreamParts, accepted: Job) {
    this.core = core
    this.accepted = accepted
  }

  begin(first: Step): void {
    this.ready = first
  }

  /** OAI-8. After `[DONE]` the client has the whole answer, and the job is about to end by itself (OAI-14). */
  leave(): void {
    this.left.abort()
    if (!this.ended && !this.sent.done) this.core.ctx.waitUntil(abandon(this.core, this.accepted.id))
  }

  /** The next text to send; null after the end. */
  async next(): Promise<string | null> {
    while (!this.ended && !this.left.signal.aborted) {
      const step = this.ready ?? (await this.step(this.left.signal))
      this.ready = null
      const text = this.textOf(step)
      if (text) return text
    }
    return null
  }

  /** Waits for the next part, at most one keepalive interval. */
  async step(signal: AbortSignal): Promise<Step> {
    const step = await this.poll()
    if (step.kind !== 'nothing' || signal.aborted) return step
    await this.core.parking.waitForJob(this.accepted.seq, this.core.pace.keepaliveMs, signal)
    return this.poll()
  }

  private textOf(step: Step): string | null {
    switch (step.kind) {
      case 'nothing':
        return pingText(this.sent)
      case 'text':
        this.sent = noteSent(this.sent, step.text)
        return step.text
      case 'failed':
        this.ended = true
        return brokenText(this.sent, step.error)
      case 'complete':
        this.ended = true
        return doneText(this.sent)
      default:
        return step satisfies never
    }
  }

  private async poll(): Promise<Step> {
    if (this.error) return { kind: 'failed', error: this.error }
    const job = await this.core.findJob(this.accepted.id)
    if (job && this.isLost(job)) return this.giveUp()
    if (job && this.core.state.payloads.hasChunks(job.seq)) return this.drain()
    const error = jobError(job)
    if (error) return { kind: 'failed', error }
    return job && isTerminal(job.state) ? this.complete(job) : { kind: 'nothing' }
  }

  // The next attempt restarts the answer from the beginning, after text that cannot be taken back (OAI-14).
  private isLost(job: Job): boolean {
    return this.attempt !== null && (job.attempt !== this.attempt || job.state === 'IN_QUEUE')
  }

  private async giveUp(): Promise<Step> {
    await abandon(this.core, this.accepted.id)
    return { kind: 'failed', error: LOST }
  }

  private async drain(): Promise<Step> {
    const outputs = await this.core.transact((tx) => {
      const job = currentJob(tx, this.accepted.id)
      if (!job || this.isLost(job)) return []
      this.attempt = job.attempt
      return this.core.state.payloads.drainChunks(job.seq, PORTION_BYTES).chunks.map(chunkOutput)
    })
    return this.emit(outputs)
  }

  /** A worker that did not stream left its whole answer, or all pieces of it, as the job's output. */
  private complete(job: Job): Promise<Step> {
    const output = this.core.state.payloads.get(job.seq, OUTPUT)
    if (this.attempt !== null || output === undefined) return Promise.resolve({ kind: 'complete' })
    this.attempt = job.attempt
    return this.emit([readErrorOutput(unwrapOutput(output)) ? unwrapOutput(output) : output])
  }

  private emit(outputs: readonly string[]): Promise<Step> {
    const errors = outputs.map(readErrorOutput)
    const at = errors.findIndex((error) => error !== null)
    this.error = errors[at] ?? null
    const text = (at === -1 ? outputs : outputs.slice(0, at)).map(outputToEvents).join('')
    return text === '' ? this.poll() : Promise.resolve({ kind: 'text', text })
  }
}
