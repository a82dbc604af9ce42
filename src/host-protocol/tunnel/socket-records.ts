import { TunnelViolation } from './frames.ts'

/**
 * Messages of a WebSocket as bytes of a stream: a byte for the kind, four for the length, then the message. A close has its code in two
 * bytes, followed by its reason.
 */
export type SocketRecord =
  | { kind: 'text'; text: string }
  | { kind: 'binary'; bytes: Uint8Array }
  | { kind: 'close'; code: number; reason: string }

/** Maximum size of a WebSocket message. */
export const MAX_MESSAGE_BYTES = 2 ** 20
const PREFIX_BYTES = 5
const KINDS = ['text', 'binary', 'close'] as const

/** Returns null for a message that is too large. */
export function encodeRecord(record: SocketRecord): Uint8Array | null {
  const body = bodyOf(record)
  if (body.length > MAX_MESSAGE_BYTES) return null
  const bytes = new Uint8Array(PREFIX_BYTES + body.length)
  bytes[0] = KINDS.indexOf(record.kind) + 1
  new DataView(bytes.buffer).setUint32(1, body.length)
  bytes.set(body, PREFIX_BYTES)
  return bytes
}

/** Reassembles records from chunks. Buffers at most one message and one chunk. */
export class RecordReader {
  private readonly parts: Uint8Array[] = []
  private length = 0

  /** Returns the records completed by these bytes. Throws `TunnelViolation` for invalid ones. */
  push(bytes: Uint8Array): SocketRecord[] {
    this.parts.push(bytes)
    this.length += bytes.length
    const records: SocketRecord[] = []
    for (let wanted = this.wanted(); wanted !== null && this.length >= wanted; wanted = this.wanted()) records.push(this.cut(wanted))
    return records
  }

  private wanted(): number | null {
    if (this.length < PREFIX_BYTES) return null
    const prefix = this.merged()
    const size = new DataView(prefix.buffer, prefix.byteOffset).getUint32(1)
    if (KINDS[(prefix[0] ?? 0) - 1] === undefined || size > MAX_MESSAGE_BYTES) throw new TunnelViolation('a record that is none')
    return PREFIX_BYTES + size
  }

  private cut(length: number): SocketRecord {
    const all = this.merged(length)
    this.parts.splice(0, this.parts.length, all.subarray(length))
    this.length -= length
    const body = all.subarray(PREFIX_BYTES, length)
    switch (KINDS[(all[0] ?? 0) - 1]) {
      case 'text':
        return { kind: 'text', text: new TextDecoder().decode(body) }
      case 'binary':
        return { kind: 'binary', bytes: body.slice() }
      default:
        return { kind: 'close', code: (body[0] ?? 0) * 256 + (body[1] ?? 0), reason: new TextDecoder().decode(body.subarray(2)) }
    }
  }

  /** Returns the first bytes in one piece. Once the prefix is known, chunks are merged only when the whole record has arrived. */
  private merged(length = PREFIX_BYTES): Uint8Array {
    const first = this.parts[0]
    if (first !== undefined && first.length >= length) return first
    const all = new Uint8Array(this.length)
    let at = 0
    for (const part of this.parts) {
      all.set(part, at)
      at += part.length
    }
    this.parts.splice(0, this.parts.length, all)
    return all
  }
}

function bodyOf(record: SocketRecord): Uint8Array {
  if (record.kind === 'binary') return record.bytes
  if (record.kind === 'text') return new TextEncoder().encode(record.text)
  const reason = new TextEncoder().encode(record.reason).subarray(0, 123)
  const bytes = new Uint8Array(2 + reason.length)
  bytes.set([record.code >> 8, record.code & 255])
  bytes.set(reason, 2)
  return bytes
}
