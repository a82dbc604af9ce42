/**
 * Continues in a later turn of the event loop without a timer (CLK-1), by passing one byte through the runtime. Input that arrives
 * meanwhile is delivered first.
 */
export class Turns {
  private through: { reader: ReadableStreamDefaultReader; writer: WritableStreamDefaultWriter } | null = null

  /** Runs `run` in a later turn. */
  next(run: () => void): void {
    const { reader, writer } = this.open()
    void reader.read().then(run, run)
    writer.write(new Uint8Array(1)).catch(() => undefined)
  }

  private open() {
    if (this.through) return this.through
    const { readable, writable } = new IdentityTransformStream()
    this.through = { reader: readable.getReader(), writer: writable.getWriter() }
    return this.through
  }
}
