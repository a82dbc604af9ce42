/**
 * What the agent and its engine client say to each other. From the agent: `call` (JSON), `abort`, `credit` (four bytes: how many more
 * may be sent), `ping`, `input` of a call that
 * takes some, and its `inputEnd`. From the client: `value` (JSON, empty for nothing), `bytes`, `failure` (JSON), `stream`, its `piece`s and `end`, `pong`,
 * `taken` (four bytes: so much of the input has gone on).
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

export interface Frame {
  kind: FrameKind
  /** The number of the call that it is about; 0: of none. */
  call: number
  payload: Buffer
}

/** Length of the payload, kind, number of the call. */
const HEADER_BYTES = 9
/** Largest payload. What reaches the agent of an answer is a small part of what the engine says. */
export const PAYLOAD_MAX_BYTES = 8 * 2 ** 20
const NONE = Buffer.alloc(0)

/** A frame as bytes. Throws when its payload is too large. */
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

/** Makes a function that takes bytes in whatever pieces they come and returns the frames that are complete. Throws on anything else. */
export function frameDecoder(): (data: Buffer) => Frame[] {
  let pieces: Buffer[] = []
  let held = 0
  let wanted = HEADER_BYTES
  let header: Omit<Frame, 'payload'> | undefined
  const take = (): Buffer => {
    // Joined once a frame is whole: joining at every piece would copy a large one hundreds of times.
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
