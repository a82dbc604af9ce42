import { expect } from '../harness.ts'

/** Reads a `text/event-stream` reply piece by piece. */
export class EventReader {
  /** Everything received so far. */
  text = ''
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private readonly decoder = new TextDecoder()

  constructor(response: Response) {
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    if (!response.body) throw new Error('no body')
    this.reader = response.body.getReader()
  }

  /** Reads until the text so far satisfies `wanted`; throws when the stream ends before. */
  async until(wanted: (text: string) => boolean): Promise<string> {
    while (!wanted(this.text)) {
      const { done, value } = await this.reader.read()
      if (done) throw new Error(`the stream ended after ${JSON.stringify(this.text)}`)
      this.text += this.decoder.decode(value, { stream: true })
    }
    return this.text
  }

  /** Reads to the end and returns everything, comments left out. */
  async rest(): Promise<string> {
    for (;;) {
      const { done, value } = await this.reader.read()
      if (done) return this.text.replaceAll(': ping\n\n', '')
      this.text += this.decoder.decode(value, { stream: true })
    }
  }

  /** Cancels the stream without further reads. */
  leave(): Promise<void> {
    return this.reader.cancel()
  }
}
