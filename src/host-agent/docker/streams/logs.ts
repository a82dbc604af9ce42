const HEADER_BYTES = 8
/** The engine cuts lines at 16 KiB; a much longer frame is not its protocol. */
const FRAME_MAX_BYTES = 2 ** 20

/** One frame of output: stream 1 is stdout, 2 is stderr. */
export interface LogFrame {
  stream: number
  payload: Buffer
}

/**
 * Lines of a container's output. Without a terminal the engine sends frames: stream number, three zero bytes, length
 * (big-endian, 4 bytes), payload. With a terminal it sends plain bytes.
 */
export function parseDockerLogs(raw: Buffer): string[] {
  return (demultiplex(raw) ?? raw).toString('utf8').split('\n')
}

function demultiplex(raw: Buffer): Buffer | undefined {
  const payloads: Buffer[] = []
  let offset = 0
  while (offset + HEADER_BYTES <= raw.length) {
    if (!isHeader(raw, offset)) return undefined
    const end = offset + HEADER_BYTES + raw.readUInt32BE(offset + 4)
    payloads.push(raw.subarray(offset + HEADER_BYTES, end))
    offset = end
  }
  return Buffer.concat(payloads)
}

/** Returns a parser that takes pieces of the answer of any size and returns the complete frames. It throws on anything else. */
export function frameReader(): (data: Buffer) => LogFrame[] {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    const bytes = rest.length === 0 ? data : Buffer.concat([rest, data])
    const frames: LogFrame[] = []
    let offset = 0
    while (offset + HEADER_BYTES <= bytes.length) {
      const length = bytes.readUInt32BE(offset + 4)
      if (!isHeader(bytes, offset) || length > FRAME_MAX_BYTES) throw new Error('the Docker engine did not send frames')
      const end = offset + HEADER_BYTES + length
      if (end > bytes.length) break
      frames.push({ stream: bytes[offset] ?? 0, payload: bytes.subarray(offset + HEADER_BYTES, end) })
      offset = end
    }
    rest = bytes.subarray(offset)
    return frames
  }
}

function isHeader(bytes: Buffer, offset: number): boolean {
  return (bytes[offset] ?? 255) <= 2 && bytes.readUIntBE(offset + 1, 3) === 0
}
