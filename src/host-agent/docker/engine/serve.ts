import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { CALL_RULES, CallMessage, type Failure, isCallName, STREAM_WINDOW_BYTES } from '../../engine/calls.ts'
import type { DockerEngine } from '../../engine/engine.ts'
import { engineText, statusOf } from '../../engine/engine-errors.ts'
import type { ExecStream } from '../../engine/exec-stream.ts'
import { countPayload, encodeFrame, type Frame, type FrameKind, frameDecoder } from '../../engine/frames.ts'
import { connectDocker } from './client.ts'
import { withSignal } from './engine-transport.ts'

/** File descriptor of the pipe to the agent. */
const AGENT_FD = 3
/** Limit of an error text, because a tenant may control it. */
const TEXT_MAX_CHARS = 8_192

/** Main function of an engine client process: serves the agent that started it and exits when the agent closes the pipe. */
export async function runEngineClient(): Promise<void> {
  // The agent decides when this process ends: it may have containers to stop, also after a Ctrl-C, which reaches the whole process group.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  const agent = new Socket({ fd: AGENT_FD })
  new EngineServer(agent, connectDocker)
  await once(agent, 'close')
  process.exit(0)
}

interface ServedCall {
  abort: AbortController
  /** Bytes that the reader has requested and that are not sent yet. */
  credit: number
  wake(): void
  /** Destination of the input, for a call that takes input. */
  input?: ExecStream
}

/** Makes the calls that come over `agent`, and answers there. An exception outside of a call ends only this process. */
export class EngineServer {
  private readonly agent: Duplex
  private readonly connect: () => Promise<DockerEngine>
  private engine: Promise<DockerEngine> | undefined
  private readonly calls = new Map<number, ServedCall>()

  constructor(agent: Duplex, connect: () => Promise<DockerEngine>) {
    this.agent = agent
    this.connect = connect
    const decode = frameDecoder()
    agent.on('data', (data: Buffer) => {
      for (const frame of decode(data)) this.take(frame)
    })
    agent.on('error', () => agent.destroy())
    agent.on('end', () => agent.destroy())
  }

  private take({ kind, call, payload }: Frame): void {
    const served = this.calls.get(call)
    if (kind === 'call') void this.serve(call, payload)
    else if (kind === 'ping') this.send('pong', 0)
    else if (kind === 'abort') served?.abort.abort()
    else if (kind === 'credit' && served !== undefined) {
      served.credit += payload.readUInt32BE(0)
      served.wake()
    } else if (kind === 'inputEnd') served?.input?.endInput()
    else if (kind === 'input' && served?.input !== undefined) this.passInput(call, served.input, payload)
  }

  private passInput(number: number, input: ExecStream, payload: Buffer): void {
    // Input that an ended command did not take is dropped.
    input.write(payload).then(
      () => this.send('taken', number, countPayload(payload.length)),
      () => undefined,
    )
  }

  private async serve(number: number, payload: Buffer): Promise<void> {
    const call: ServedCall = { abort: new AbortController(), credit: STREAM_WINDOW_BYTES, wake: () => {} }
    this.calls.set(number, call)
    try {
      const { name, args, signalAt } = CallMessage.parse(JSON.parse(payload.toString()))
      if (!isCallName(name)) throw new Error(`the engine client knows no call '${name}'`)
      // JSON has no `undefined`: omitted arguments arrive as null.
      const given = args.map((value, index) => (index === signalAt ? call.abort.signal : (value ?? undefined)))
      await withSignal(call.abort.signal, async () => {
        const engine = await this.connected()
        const method = engine[name] as (...given: unknown[]) => Promise<unknown>
        const answer = await method(...given)
        await this.answer(number, call, CALL_RULES[name].answer === 'nothing' ? undefined : answer)
      })
    } catch (error) {
      this.fail(number, error)
    } finally {
      this.calls.delete(number)
    }
  }

  private async connected(): Promise<DockerEngine> {
    this.engine ??= this.connect()
    try {
      return await this.engine
    } catch (error) {
      this.engine = undefined
      throw error
    }
  }

  private async answer(number: number, call: ServedCall, answer: unknown): Promise<void> {
    if (Buffer.isBuffer(answer)) this.send('bytes', number, answer)
    else if (goesBothWays(answer)) await this.passBothWays(number, call, answer)
    else if (isStream(answer)) await this.pass(number, call, answer)
    else this.send('value', number, JSON.stringify(answer))
  }

  /** Sends a stream, at most as far as its reader has requested. */
  private async pass(number: number, call: ServedCall, stream: AsyncIterable<Buffer>): Promise<void> {
    this.send('stream', number)
    for await (const piece of stream) {
      while (call.credit <= 0 && !call.abort.signal.aborted) await creditOf(call)
      call.abort.signal.throwIfAborted()
      call.credit -= piece.length
      this.send('piece', number, piece)
    }
    this.send('end', number)
  }

  private async passBothWays(number: number, call: ServedCall, stream: ExecStream): Promise<void> {
    call.input = stream
    call.abort.signal.addEventListener('abort', () => stream.close(), { once: true })
    try {
      await this.pass(number, call, stream.output)
    } finally {
      stream.close()
    }
  }

  private fail(number: number, error: unknown): void {
    const statusCode = statusOf(error)
    const failure: Failure = { text: engineText(error).slice(0, TEXT_MAX_CHARS), ...(statusCode === undefined ? {} : { statusCode }) }
    this.send('failure', number, JSON.stringify(failure))
  }

  private send(kind: FrameKind, number: number, payload?: Buffer | string): void {
    if (!this.agent.destroyed) this.agent.write(encodeFrame(kind, number, payload))
  }
}

function isStream(answer: unknown): answer is AsyncIterable<Buffer> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
}

function goesBothWays(answer: unknown): answer is ExecStream {
  return typeof answer === 'object' && answer !== null && 'endInput' in answer
}

function creditOf(call: ServedCall): Promise<void> {
  return new Promise((resolve) => {
    call.wake = resolve
    call.abort.signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
