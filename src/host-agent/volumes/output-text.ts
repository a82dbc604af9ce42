/** Maximum output of a command that is retained: the names of some ten thousand volumes. */
export const OUTPUT_MAX_BYTES = 4 * 2 ** 20

/** Collects the beginning of a stream, up to `maxBytes`. */
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
