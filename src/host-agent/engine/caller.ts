import { CALL_RULES, type CallMessage, type CallName, type CallRule, Failure, STREAM_WINDOW_BYTES } from './calls.ts'
import { type ExecStream, InputWindow } from './exec-stream.ts'
import { countPayload, type Frame, type FrameKind } from './frames.ts'
import { Pieces } from './pieces.ts'

/** Maximum number of concurrent calls: a few for each running container. */
const CALLS_MAX = 8_192

interface Call {
  rule: CallRule<unknown>
  /** Received pieces of a stream. */
  pieces: Pieces | undefined
  /** Flow control for a call that takes input. */
  input: InputWindow | undefined
  resolve(answer: unknown): void
  reject(error: Error): void
  /** Removes the timer and the abort listener. */
  release(): void
}

/** The agent's end of the pipe to an engine client: makes calls and tracks those in progress. */
export class Caller {
  private readonly send: (kind: FrameKind, call: number, payload?: Buffer | string) => void
  private readonly calls = new Map<number, Call>()
  private lastNumber = 0

  constructor(send: (kind: FrameKind, call: number, payload?: Buffer | string) => void) {
    this.send = send
  }

  /** Makes a call. Rejects with the engine's error, on timeout, or when a signal among the arguments fires. */
  make(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const rule: CallRule<unknown> = CALL_RULES[name]
    const signalAt = args.findIndex((arg) => arg instanceof AbortSignal)
    const signal = args[signalAt] as AbortSignal | undefined
    const message: CallMessage = {
      name,
      args: args.map((arg) => (arg instanceof AbortSignal ? null : arg)),
      signalAt: signalAt < 0 ? null : signalAt,
    }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      if (this.calls.size >= CALLS_MAX) throw new Error(`more than ${CALLS_MAX} calls to the container engine are under way`)
      const number = this.nextNumber()
      this.send('call', number, JSON.stringify(message))
      this.calls.set(number, { rule, pieces: undefined, input: undefined, resolve, reject, release: this.limit(number, rule, signal) })
    })
  }

  /** Handles an answer of the client, or a part of one; ignores answers to calls that were given up. */
  take({ kind, call: number, payload }: Frame): void {
    const call = this.calls.get(number)
    if (call === undefined) return
    if (kind === 'stream') this.open(number, call)
    else if (kind === 'piece') call.pieces?.add(payload)
    else if (kind === 'taken') call.input?.taken(payload.readUInt32BE(0))
    else this.answer(number, call, kind, payload)
  }

  /** Rejects all calls, because the client has ended. */
  endAll(error: Error): void {
    for (const [number, call] of this.calls) this.finish(number, call, error)
  }

  private open(number: number, call: Call): void {
    const { answer } = call.rule
    if (answer !== 'stream' && answer !== 'bothWays') {
      this.finish(number, call, new Error(UNEXPECTED))
      return
    }
    const pieces = new Pieces()
    call.pieces = pieces
    const onTaken = (bytes: number) => {
      if (this.calls.has(number)) this.send('credit', number, countPayload(bytes))
    }
    const leave = () => this.giveUp(number, new Error('the reader disconnected'))
    const output = pieces.read(onTaken, leave)
    call.resolve(answer === 'stream' ? output : this.bothWays(number, call, output, leave))
  }

  private bothWays(number: number, call: Call, output: AsyncIterable<Buffer>, close: () => void): ExecStream {
    const input = new InputWindow(STREAM_WINDOW_BYTES)
    call.input = input
    const write = async (bytes: Uint8Array) => {
      for (let from = 0; from < bytes.length; ) {
        const length = await input.take(bytes.length - from)
        this.send('input', number, Buffer.from(bytes.subarray(from, from + length)))
        from += length
      }
    }
    return { output, write, endInput: () => this.calls.has(number) && this.send('inputEnd', number), close }
  }

  private answer(number: number, call: Call, kind: FrameKind, payload: Buffer): void {
    try {
      if (kind === 'failure') throw failureOf(payload)
      if (kind === 'end' && call.pieces !== undefined) call.pieces.end(null)
      else call.resolve(answerOf(call.rule, kind, payload))
      this.finish(number, call, null)
    } catch (error) {
      this.finish(number, call, error instanceof Error ? error : new Error(String(error)))
    }
  }

  private finish(number: number, call: Call, error: Error | null): void {
    this.calls.delete(number)
    call.release()
    call.input?.end()
    if (error === null) return
    call.pieces?.end(error)
    call.reject(error)
  }

  private giveUp(number: number, error: Error): void {
    const call = this.calls.get(number)
    if (call === undefined) return
    this.send('abort', number)
    this.finish(number, call, error)
  }

  private limit(number: number, { timeoutMs }: CallRule<unknown>, signal: AbortSignal | undefined): () => void {
    const onAbort = () => this.giveUp(number, signal?.reason instanceof Error ? signal.reason : new Error('given up'))
    signal?.addEventListener('abort', onAbort, { once: true })
    const text = `the container engine did not respond within ${(timeoutMs ?? 0) / 1000} s`
    const timer = timeoutMs === null ? undefined : setTimeout(() => this.giveUp(number, new Error(text)), timeoutMs)
    return () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  private nextNumber(): number {
    do this.lastNumber = (this.lastNumber + 1) % 2 ** 32
    while (this.lastNumber === 0 || this.calls.has(this.lastNumber))
    return this.lastNumber
  }
}

const UNEXPECTED = 'the engine sent an unexpected response'

function answerOf({ answer }: CallRule<unknown>, kind: FrameKind, payload: Buffer): unknown {
  if (kind === 'bytes' && answer === 'bytes') return payload
  if (kind === 'value' && answer === 'nothing') return undefined
  if (kind !== 'value' || typeof answer === 'string') throw new Error(UNEXPECTED)
  const parsed = answer.safeParse(payload.length === 0 ? undefined : JSON.parse(payload.toString()))
  if (!parsed.success) throw new Error(UNEXPECTED)
  return parsed.data
}

function failureOf(payload: Buffer): Error {
  const { text, statusCode } = Failure.parse(JSON.parse(payload.toString()))
  return statusCode === undefined ? new Error(text) : Object.assign(new Error(text), { statusCode })
}
