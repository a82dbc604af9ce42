const HEADER_BYTES = 8

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
    const framed = (raw[offset] ?? 255) <= 2 && raw.readUIntBE(offset + 1, 3) === 0
    if (!framed) return undefined
    const end = offset + HEADER_BYTES + raw.readUInt32BE(offset + 4)
    payloads.push(raw.subarray(offset + HEADER_BYTES, end))
    offset = end
  }
  return Buffer.concat(payloads)
}
