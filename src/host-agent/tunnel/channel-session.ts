import {
  type ChannelMessage,
  decodeChannel,
  encodeChannel,
  exited,
  FLOW_WINDOW_BYTES,
  failure,
  MAX_CHANNEL_BYTES,
  NOT_SUPPORTED,
} from '../../host-protocol/tunnel/channels.ts'
import { encodeRecord, RecordReader } from '../../host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../host-protocol/tunnel/stream.ts'
import { sleep } from '../../node/backoff.ts'
import { ExecRefused, type ExecSession } from '../runtime.ts'
import { Pace } from './pace.ts'

const SWITCHING = 101
const NORMAL = 1000

/**
 * Serves a command of the plane over a stream, in channel messages. With `flow`, output is sent only up to the client's credit, so that a
 * client that reads slowly blocks its command and no buffer on the way.
 */
export async function serveChannels(stream: TunnelStream, start: () => Promise<ExecSession>, flow: boolean): Promise<void> {
  let isLeft = false
  void stream.over.then(() => {
    isLeft = true
  })
  stream.accept()
  stream.sendHead({ status: SWITCHING, headers: [] })
  const conversation = new Conversation(stream, flow)
  let session: ExecSession
  try {
    session = await start()
  } catch (error) {
    const isKnown = error instanceof ExecRefused
    const reason = isKnown && error.isForGood ? NOT_SUPPORTED : undefined
    await conversation.finish(failure(isKnown ? error.message : 'the host of the pod could not start the command', reason))
    return
  }
  // Also for a client that left during the start.
  void stream.over.then(() => session.end())
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- it changes while the start is waited for
  if (isLeft) return
  void conversation.listen(session).catch(() => session.end())
  try {
    for await (const { channel, bytes } of session.output) await conversation.pass(channel, bytes)
    await conversation.finish(exited(await session.exitCode()))
  } catch (error) {
    await conversation.finish(failure(error instanceof ExecRefused ? error.message : 'the connection to the command broke off'))
  } finally {
    await session.end()
  }
}

/** Reads and writes the messages of one stream, and counts the credit of each direction. */
class Conversation {
  private readonly stream: TunnelStream
  private readonly flow: boolean
  private sendable = FLOW_WINDOW_BYTES
  /** Paces the output when there is no credit (without `flow`). */
  private readonly pace = new Pace(() => performance.now())
  private readonly left = new AbortController()
  /** Bytes of input that are not written yet, and bytes that were written but not yet granted again as credit. */
  private queued = 0
  private unsaid = 0
  private input: Promise<void> = Promise.resolve()
  private wake = Promise.withResolvers<void>()
  private writing: Promise<void> = Promise.resolve()

  constructor(stream: TunnelStream, flow: boolean) {
    this.stream = stream
    this.flow = flow
    void stream.over.then(() => {
      this.left.abort()
      this.wake.resolve()
    })
  }

  /** Sends output; resolves when more may be sent. Throws when the client disconnected. */
  async pass(channel: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      while (this.flow && this.sendable === 0) await this.credit()
      const length = Math.min(MAX_CHANNEL_BYTES, bytes.length - from, this.flow ? this.sendable : MAX_CHANNEL_BYTES)
      if (this.flow) this.sendable -= length
      else await this.keepPace(length)
      await this.say({ channel, bytes: bytes.subarray(from, from + length) })
      from += length
    }
  }

  private async keepPace(bytes: number): Promise<void> {
    const waitMs = this.pace.take(bytes)
    if (waitMs > 0) await sleep(waitMs, this.left.signal)
  }

  /** Sends the status as the last message and ends the stream. If that fails, the stream is reset; nothing waits for the error. */
  async finish(status: ReturnType<typeof exited>): Promise<void> {
    try {
      await this.say({ channel: 'status', status })
      await this.write(encodeRecord({ kind: 'close', code: NORMAL, reason: '' }))
      this.stream.end()
    } catch {
      this.stream.reset({ code: 'broken', detail: 'the connection to the command ended' })
    }
  }

  /** Passes the client's messages on until the client sends no more. */
  async listen(session: ExecSession): Promise<void> {
    const reader = new RecordReader()
    for (let bytes = await this.stream.read(); bytes !== null; bytes = await this.stream.read()) {
      for (const record of reader.push(bytes)) {
        if (record.kind === 'close') return await session.end()
        const message = record.kind === 'binary' ? decodeChannel(record.bytes) : null
        if (message !== null) await this.hear(session, message)
      }
    }
    await session.end()
  }

  private async hear(session: ExecSession, message: ChannelMessage): Promise<void> {
    switch (message.channel) {
      case 'stdin': {
        this.queued += message.bytes.length
        if (this.flow && this.queued > FLOW_WINDOW_BYTES) throw new Error('more input than the credit allows')
        // A failed write is ignored: a command that reads no more input has not ended.
        const written = this.afterInput(() => session.write(message.bytes).catch(() => undefined)).then(() =>
          this.taken(message.bytes.length),
        )
        // Credit for output must not wait behind input that the command does not read yet; without `flow` there is no credit, so this
        // waits.
        if (!this.flow) await written
        return
      }
      case 'close':
        void this.afterInput(async () => session.endInput())
        return
      case 'resize':
        await session.resize(message.rows, message.cols)
        return
      case 'signal':
        await session.signal(message.signal)
        return
      case 'credit':
        this.sendable += message.bytes
        this.wake.resolve()
        this.wake = Promise.withResolvers<void>()
        return
      default:
        // Channels of the other direction.
        return
    }
  }

  private afterInput(next: () => Promise<void>): Promise<void> {
    this.input = this.input.then(next)
    return this.input
  }

  private async taken(bytes: number): Promise<void> {
    this.queued -= bytes
    this.unsaid += bytes
    if (!this.flow || this.unsaid < FLOW_WINDOW_BYTES / 4) return
    const granted = this.unsaid
    this.unsaid = 0
    // The client has left; it needs no credit.
    await this.say({ channel: 'credit', bytes: granted }).catch(() => undefined)
  }

  private async credit(): Promise<void> {
    let isOver = false
    await Promise.race([
      this.wake.promise,
      this.stream.over.then(() => {
        isOver = true
      }),
    ])
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- it changes while it is waited for
    if (isOver) throw new Error('the client disconnected')
  }

  private say(message: ChannelMessage): Promise<void> {
    return this.write(encodeRecord({ kind: 'binary', bytes: encodeChannel(message) }))
  }

  // Serializes writes: output and credit are sent concurrently.
  private write(bytes: Uint8Array | null): Promise<void> {
    const next = this.writing.then(() => (bytes === null ? undefined : this.stream.write(bytes)))
    this.writing = next.catch(() => undefined)
    return next
  }
}
