/** Most that is kept of a command's output: names of some ten thousand volumes. */
export const OUTPUT_MAX_BYTES = 4 * 2 ** 20

/** The beginning of a stream. */
export class OutputText {
  private readonly chunks: Buffer[] = []
  private readonly maxBytes: number
  private bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    const part = chunk.subarray(0, this.maxBytes - this.bytes)
    this.bytes += part.length
    if (part.length > 0) this.chunks.push(part)
  }

  text(): string {
    return Buffer.concat(this.chunks).toString('utf8')
  }
}
