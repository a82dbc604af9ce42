/**
 * Frames between the agent and its engine client. From the agent: `call` (JSON), `abort`, `credit` (four bytes: number of further bytes
 * that may be sent), `ping`, `input` for a call that takes input, and `inputEnd`. From the client: `value` (JSON, empty for none), `bytes`,
 * `failure` (JSON), `stream`, its `piece`s and `end`, `pong`, `taken` (four bytes: number of input bytes that were passed on).
 */
const KINDS = [
  'call',
  'abort',
  'credit',
  'ping',
  'value',
  'bytes',
  'failure',
  'stream',
  'piece',
  'end',
  'pong',
  'input',
  'inputEnd',
  'taken',
] as const
export type FrameKind = (typeof KINDS)[number]

/** A message between the agent and the process that calls the engine. */
export interface Frame {
  kind: FrameKind
  /** Number of the call that the frame belongs to; 0: none. */
  call: number
  payload: Buffer
}

/** Length of the payload (four bytes), kind (one byte), number of the call (four bytes). */
const HEADER_BYTES = 9
/** Limit of a payload. An answer reaches the agent reduced to a small part of what the engine sends. */
export const PAYLOAD_MAX_BYTES = 8 * 2 ** 20
const NONE = Buffer.alloc(0)

/** Encodes a frame. Throws when its payload is too large. */
export function encodeFrame(kind: FrameKind, call: number, payload: Buffer | string = NONE): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
  if (bytes.length > PAYLOAD_MAX_BYTES)
    throw new Error(`what the engine client has to say is longer than ${PAYLOAD_MAX_BYTES / 2 ** 20} MiB`)
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt32BE(bytes.length, 0)
  header.writeUInt8(KINDS.indexOf(kind), 4)
  header.writeUInt32BE(call, 5)
  return Buffer.concat([header, bytes])
}

/** Returns the payload of `credit` and `taken`: a number of bytes. */
export function countPayload(bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(bytes)
  return payload
}

/** Returns a decoder that takes pieces of any size and returns the complete frames. It throws on anything else. */
export function frameDecoder(): (data: Buffer) => Frame[] {
  let pieces: Buffer[] = []
  let held = 0
  let wanted = HEADER_BYTES
  let header: Omit<Frame, 'payload'> | undefined
  const take = (): Buffer => {
    // Joined once a frame is complete: joining at every piece would copy a large frame hundreds of times.
    const bytes = Buffer.concat(pieces)
    pieces = bytes.length > wanted ? [bytes.subarray(wanted)] : []
    held = bytes.length - wanted
    return bytes.subarray(0, wanted)
  }
  return (data) => {
    const frames: Frame[] = []
    pieces.push(data)
    held += data.length
    while (held >= wanted) {
      const bytes = take()
      if (header === undefined) {
        header = { kind: kindOf(bytes), call: bytes.readUInt32BE(5) }
        wanted = payloadLength(bytes)
      } else {
        frames.push({ ...header, payload: bytes })
        header = undefined
        wanted = HEADER_BYTES
      }
    }
    return frames
  }
}

function kindOf(header: Buffer): FrameKind {
  const kind = KINDS[header.readUInt8(4)]
  if (kind === undefined) throw new Error('a frame of an unknown kind')
  return kind
}

function payloadLength(header: Buffer): number {
  const length = header.readUInt32BE(0)
  if (length > PAYLOAD_MAX_BYTES) throw new Error('a frame is too long')
  return length
}
