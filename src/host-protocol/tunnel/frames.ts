import { z } from 'zod'
import { hostText } from '../host-text.ts'

/**
 * The tunnel: a second WebSocket of an agent (`GET /host/v1/tunnel`), on which the plane opens streams into the workloads of that host
 * (adr/0028). Every message is one binary frame: a byte for its type, four for the number of its stream, then the payload of that type.
 *
 *   open    plane → agent   JSON `OpenTarget`, with the bytes that the plane accepts before it grants more
 *   accept  agent → plane   the agent serves the stream; u32: the bytes that the agent accepts before it grants more
 *   head    agent → plane   JSON `StreamHead`, before the first bytes of that direction
 *   data    both            bytes, at most `MAX_DATA_BYTES`
 *   credit  both            u32: number of additional bytes that may be sent
 *   end     both            no more bytes from this side
 *   reset   both            JSON `ResetReason`; the stream is over for both
 *
 * The text message `ping` of the agent is answered with `pong`, so that each side knows that the other is there.
 */
export const TUNNEL_PATH = '/host/v1/tunnel'
export const TUNNEL_PING = 'ping'
export const TUNNEL_PONG = 'pong'
export const TUNNEL_PING_INTERVAL_MS = 10_000
/** Both ends close a tunnel on which nothing has arrived for this long. */
export const TUNNEL_SILENCE_MS = 30_000

/** Maximum size of the content of one data frame. */
export const MAX_DATA_BYTES = 32 * 1024
/** Maximum size of the headers of a request or an answer, names and values together. */
export const MAX_HEADER_BYTES = 32 * 1024
/** Maximum size of a frame, larger than data alone needs: JSON may escape every byte of a header. */
export const MAX_FRAME_BYTES = 256 * 1024
const PREFIX_BYTES = 5
const MAX_WINDOW_BYTES = 2 ** 31

/** Maximum number of headers of a request or an answer. */
export const MAX_HEADERS = 256
/** Maximum length of the name of a header. */
export const MAX_HEADER_NAME_CHARS = 1_024
/** Maximum length of a request's path with its query. */
export const MAX_PATH_CHARS = 16_384
const HeaderName = z.string().min(1).max(MAX_HEADER_NAME_CHARS)
const HeaderList = z.array(z.tuple([HeaderName, z.string().max(MAX_HEADER_BYTES)])).max(MAX_HEADERS)
export type HeaderList = z.infer<typeof HeaderList>
const Window = z.number().int().min(1).max(MAX_WINDOW_BYTES)

const Port = z.number().int().min(1).max(65_535)
/** Every target names a workload of this host, never an address. */
const Common = { workloadId: z.string().min(1).max(64), window: Window }

/** An HTTP/1.1 request (`http`), or one with an upgrade, followed by records of `socket-records.ts` (`websocket`). */
export const RequestTarget = z.object({
  ...Common,
  kind: z.enum(['http', 'websocket']),
  /** A port of the workload, not of its host. */
  port: Port,
  method: z.string().regex(/^[A-Z]{1,20}$/),
  /** With its query. */
  path: z.string().startsWith('/').max(MAX_PATH_CHARS),
  headers: HeaderList,
})
export type RequestTarget = z.infer<typeof RequestTarget>

const TerminalSize = z.number().int().min(1).max(4_096)

/**
 * A command in the workload's container. The answer is a head with status 101, followed by records whose binary messages are those of
 * `channels.ts`.
 */
export const ExecTarget = z.object({
  ...Common,
  kind: z.literal('exec'),
  /** Null: a login shell. */
  command: z
    .array(z.string().max(128 * 1024))
    .min(1)
    .max(1_024)
    .nullable(),
  /** The terminal of the command and its size; null: none. */
  terminal: z.object({ name: z.string().regex(/^[A-Za-z0-9][\w.+-]{0,63}$/), rows: TerminalSize, cols: TerminalSize }).nullable(),
  /** Both ends use `CHANNELS.credit`. */
  flow: z.boolean(),
})
export type ExecTarget = z.infer<typeof ExecTarget>

/**
 * A connection to a port of the workload, also one that listens only on the container's loopback; same messages as an exec, without stderr.
 */
export const TcpTarget = z.object({ ...Common, kind: z.literal('tcp'), port: Port, flow: z.boolean() })
export type TcpTarget = z.infer<typeof TcpTarget>

/** The target of a stream. */
export const OpenTarget = z.discriminatedUnion('kind', [RequestTarget, ExecTarget, TcpTarget])
export type OpenTarget = z.infer<typeof OpenTarget>

type WithoutWindow<Target> = Target extends unknown ? Omit<Target, 'window'> : never
/** A target before its stream is opened. */
export type WantedTarget = WithoutWindow<OpenTarget>

/** Lists, when an agent opens its tunnel, what it serves besides requests to workers: names of `TunnelAbility`, comma-separated. */
export const TUNNEL_ABILITIES_HEADER = 'podplane-tunnel-serves'
/**
 * `pods`: requests to pods; `channels`: targets `exec` and `tcp`. An agent without this header serves neither, and would close the tunnel.
 */
export const TUNNEL_ABILITIES = ['pods', 'channels'] as const
export type TunnelAbility = (typeof TUNNEL_ABILITIES)[number]

export const StreamHead = z.object({ status: z.number().int().min(101).max(599), headers: HeaderList })
export type StreamHead = z.infer<typeof StreamHead>

/** The reason why a stream ended. `unreachable`: nothing of it has reached the workload. `broken`: it ended in the middle. */
export const ResetReason = z.object({
  code: z.enum(['unreachable', 'broken', 'cancelled', 'refused']),
  detail: hostText(300),
})
export type ResetReason = z.infer<typeof ResetReason>

/** A frame of one stream. `window`: bytes that the other end may send before it gets credit for more. */
export type Frame = { stream: number } & (
  | { type: 'open'; target: OpenTarget }
  | { type: 'accept'; window: number }
  | { type: 'head'; head: StreamHead }
  | { type: 'data'; bytes: Uint8Array }
  | { type: 'credit'; bytes: number }
  | { type: 'end' }
  | { type: 'reset'; reason: ResetReason }
)
export type FrameType = Frame['type']

const TYPES: readonly FrameType[] = ['open', 'accept', 'head', 'data', 'credit', 'end', 'reset']

/**
 * Whether the other end accepts the first frame of a stream, whose contents come from a client or a workload. For an invalid frame it would
 * close the connection and with it the streams of all others (NET-53).
 */
export function isUnderstood(frame: Extract<Frame, { type: 'open' | 'head' }>): boolean {
  const fits = frame.type === 'open' ? OpenTarget.safeParse(frame.target).success : StreamHead.safeParse(frame.head).success
  return fits && encodeFrame(frame).length <= MAX_FRAME_BYTES
}

/** A message that violates the protocol; the receiver closes the tunnel. */
export class TunnelViolation extends Error {
  override readonly name = 'TunnelViolation'
}

/** One message of the tunnel: a byte for the type, four for the stream, then the payload. */
export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const payload = payloadOf(frame)
  const message = new Uint8Array(PREFIX_BYTES + payload.length)
  message[0] = TYPES.indexOf(frame.type) + 1
  new DataView(message.buffer).setUint32(1, frame.stream)
  message.set(payload, PREFIX_BYTES)
  return message
}

/** Throws `TunnelViolation` for everything that is no valid frame. */
export function decodeFrame(message: Uint8Array): Frame {
  if (message.length < PREFIX_BYTES || message.length > MAX_FRAME_BYTES) throw new TunnelViolation(`a frame of ${message.length} bytes`)
  const type = TYPES[(message[0] ?? 0) - 1]
  const stream = new DataView(message.buffer, message.byteOffset).getUint32(1)
  const payload = message.subarray(PREFIX_BYTES)
  switch (type) {
    case 'open':
      return { type, stream, target: readJson(payload, OpenTarget) }
    case 'accept':
      return { type, stream, window: readCount(payload) }
    case 'head':
      return { type, stream, head: readJson(payload, StreamHead) }
    case 'data':
      if (payload.length === 0 || payload.length > MAX_DATA_BYTES) throw new TunnelViolation(`data of ${payload.length} bytes`)
      return { type, stream, bytes: payload }
    case 'credit':
      return { type, stream, bytes: readCount(payload) }
    case 'end':
      if (payload.length > 0) throw new TunnelViolation('an end with bytes behind it')
      return { type, stream }
    case 'reset':
      return { type, stream, reason: readJson(payload, ResetReason) }
    default:
      throw new TunnelViolation(`a frame of type ${message[0]}`)
  }
}

function payloadOf(frame: Frame): Uint8Array {
  switch (frame.type) {
    case 'open':
      return writeJson(frame.target)
    case 'accept':
      return writeCount(frame.window)
    case 'head':
      return writeJson(frame.head)
    case 'data':
      return frame.bytes
    case 'credit':
      return writeCount(frame.bytes)
    case 'end':
      return new Uint8Array()
    case 'reset':
      return writeJson(frame.reason)
    default:
      return frame satisfies never
  }
}

/** Encodes a value as JSON in UTF-8. */
export function writeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

function readJson<T>(bytes: Uint8Array, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)))
  } catch {
    throw new TunnelViolation('a frame whose text is not understood')
  }
}

/** Encodes a count in four bytes, big-endian. */
export function writeCount(count: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, count)
  return bytes
}

function readCount(payload: Uint8Array): number {
  const count = payload.length === 4 ? new DataView(payload.buffer, payload.byteOffset).getUint32(0) : 0
  if (count === 0 || count > MAX_WINDOW_BYTES) throw new TunnelViolation(`a count of ${count} bytes`)
  return count
}
