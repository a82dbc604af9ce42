import type { AgentFrame, ListenCall, PlaneFrame, TakeCall } from '../../../host-protocol/worker-channel.ts'
import { AnswerParts } from './answer-parts.ts'
import type { PollFrame } from './channel-calls.ts'

/** Most characters of the answers whose parts are kept: a batch has 20 Mi and one input more, at most 20 MiB. HTTP carries a longer one. */
const MAX_ANSWER_CHARS = 64 * 2 ** 20
/** Longest answer that waits for the next poll of its worker; a longer one is asked for again (LSE-30). */
const MAX_KEPT_CHARS = 2 ** 20
/** Time for the answer to a `leave`. */
const LEAVE_MS = 5_000
/** Time within which a worker whose poll has ended polls again. */
const RETURN_MS = 10_000

/** The end of a take or stop poll; `broken`: the connection ended, and the answer may be lost with it. */
export type PollAnswer = Extract<PlaneFrame, { type: 'job' | 'stop' | 'nothing' }> | { type: 'broken' }

interface OpenPoll {
  frame: PollFrame
  /** Undefined while no worker waits. */
  answer: ((answer: PollAnswer) => void) | undefined
  /** The plane's answer, for a worker that is about to poll again. */
  kept: PollEnd | undefined
  /** Whether its worker has gone and polls no more under this number. */
  isDropped: boolean
  /** Whether the plane was asked to end it. */
  isLeft: boolean
  /** Ends the hold, the time for the worker's next poll, or the time for the answer to a `leave`. */
  timer: NodeJS.Timeout | undefined
}

type PollEnd = Exclude<PollAnswer, { type: 'broken' }>

/** The parts of a channel that its polls use. */
export interface PollContext {
  /** A new number of a call. */
  number(): number
  send(frame: AgentFrame): void
  /** Ends the connection at once. */
  cut(): void
  /** The plane has answered a poll of this worker with jobs or stop orders. */
  answered(worker: string): void
  /** The plane has given jobs to a worker that does not wait any more. */
  lost(worker: string): void
  /** Whether that has happened since the worker's last take. */
  hasLost(worker: string): boolean
  /** The same; the worker's take is about to say so (LSE-30). */
  takeLost(worker: string): boolean
  /** Whether a call stays open for the next poll of its worker (CHN-31). */
  staysOpen(): boolean
}

/** The open takes and stop polls of one channel, by number. */
export class OpenPolls {
  private readonly context: PollContext
  private readonly polls = new Map<number, OpenPoll>()
  private readonly parts = new AnswerParts(MAX_ANSWER_CHARS)

  constructor(context: PollContext) {
    this.context = context
  }

  get size(): number {
    return this.polls.size
  }

  /**
   * Sends a take or stop poll and waits for its end, at most `holdMs` and as long as the worker waits. At a plane that takes standing pings,
   * the call stays open for the next poll of the same worker (CHN-31).
   */
  poll(frame: PollFrame, holdMs: number, gone: AbortSignal): Promise<PollAnswer> {
    if (gone.aborted) return Promise.resolve({ type: 'nothing', n: 0 })
    const [n, poll] = this.resume(frame) ?? this.begin(frame)
    return new Promise((resolve) => {
      const answer = (final: PollAnswer) => {
        gone.removeEventListener('abort', drop)
        resolve(final)
      }
      const drop = () => {
        poll.answer = undefined
        poll.isDropped = true
        this.parts.take(n)
        this.leave(n, poll)
        answer({ type: 'nothing', n })
      }
      clearTimeout(poll.timer)
      if (poll.kept) {
        this.polls.delete(n)
        return resolve(poll.kept)
      }
      poll.answer = answer
      poll.timer = setTimeout(() => this.endHold(n, poll), holdMs)
      gone.addEventListener('abort', drop, { once: true })
    })
  }

  private begin(frame: PollFrame): [number, OpenPoll] {
    const n = this.context.number()
    const poll: OpenPoll = { frame, answer: undefined, kept: undefined, isDropped: false, isLeft: false, timer: undefined }
    this.polls.set(n, poll)
    const again = frame.type === 'take' && this.context.takeLost(frame.worker)
    this.context.send(again ? { ...frame, n, again } : { ...frame, n })
    return [n, poll]
  }

  /** The call that the worker's last poll has left open. A worker that polls otherwise, or has lost an answer (LSE-30), ends it. */
  private resume(frame: PollFrame): [number, OpenPoll] | undefined {
    for (const [n, poll] of this.polls) {
      const isWaiting = poll.answer === undefined && !poll.isDropped && !poll.isLeft
      if (!isWaiting || poll.frame.worker !== frame.worker || poll.frame.type !== frame.type) continue
      const isSame = JSON.stringify(poll.frame) === JSON.stringify(frame)
      if (isSame && (poll.kept || !this.context.hasLost(frame.worker))) return [n, poll]
      this.giveUp(n, poll)
    }
    return undefined
  }

  private endHold(n: number, poll: OpenPoll): void {
    if (this.context.staysOpen()) {
      const { answer } = poll
      poll.answer = undefined
      poll.timer = setTimeout(() => this.giveUp(n, poll), RETURN_MS)
      answer?.({ type: 'nothing', n })
    } else this.leave(n, poll)
  }

  // The worker has not polled again.
  private giveUp(n: number, poll: OpenPoll): void {
    if (poll.kept) {
      clearTimeout(poll.timer)
      this.polls.delete(n)
      if (poll.kept.type === 'job') this.context.lost(poll.frame.worker)
    } else this.leave(n, poll)
  }

  // The answer may be under way: the call is open until the plane has confirmed that it is over, and with it the hold of the worker.
  private leave(n: number, poll: OpenPoll): void {
    if (poll.isLeft) return
    poll.isLeft = true
    clearTimeout(poll.timer)
    poll.timer = setTimeout(() => this.context.cut(), LEAVE_MS)
    this.context.send(poll.frame.type === 'take' ? { type: 'leave', n, worker: poll.frame.worker } : { type: 'leave', n })
  }

  /** Keeps part of a long answer. Only a take has one; without its worker, the end of the answer says enough. */
  keepPart({ n, text }: Extract<PlaneFrame, { type: 'part' }>): void {
    const poll = this.polls.get(n)
    if (poll?.frame.type === 'take' && !poll.isDropped && !this.parts.keep(n, text)) this.context.cut()
  }

  /** Ends a poll with the plane's answer. */
  end(frame: PollEnd): void {
    const poll = this.polls.get(frame.n)
    if (!poll || poll.kept || !isAnswer(poll.frame, frame)) return
    const before = this.parts.take(frame.n)
    const end = frame.type === 'job' ? { ...frame, text: before + frame.text } : frame
    if (frame.type !== 'nothing') this.context.answered(poll.frame.worker)
    // Between two polls of a worker.
    const isShort = end.type !== 'job' || end.text.length <= MAX_KEPT_CHARS
    if (!poll.answer && !poll.isDropped && !poll.isLeft && frame.type !== 'nothing' && isShort) {
      poll.kept = end
      return
    }
    this.polls.delete(frame.n)
    clearTimeout(poll.timer)
    if (poll.answer) poll.answer(end)
    else if (frame.type === 'job') this.context.lost(poll.frame.worker)
  }

  /** The calls that wait for the plane. */
  waiting(): { takes: TakeCall[]; listens: ListenCall[] } {
    const waiting = [...this.polls].filter(([, { isLeft, kept }]) => !isLeft && !kept)
    return {
      takes: waiting.flatMap(([n, { frame }]) => (frame.type === 'take' ? [{ ...frame, n }] : [])),
      listens: waiting.flatMap(([n, { frame }]) => (frame.type === 'listen' ? [{ ...frame, n }] : [])),
    }
  }

  /** Ends all polls, because the connection has ended. */
  break(): void {
    for (const [n, { answer, timer, kept, frame }] of this.polls) {
      clearTimeout(timer)
      this.parts.take(n)
      answer?.({ type: 'broken' })
      if (kept?.type === 'job') this.context.lost(frame.worker)
    }
    this.polls.clear()
  }
}

function isAnswer(to: PollFrame, { type }: Exclude<PollAnswer, { type: 'broken' }>): boolean {
  return type === 'nothing' || type === (to.type === 'take' ? 'job' : 'stop')
}
