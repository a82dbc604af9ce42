import { expect, send } from '../harness.ts'

export interface LogEvent {
  id: string
  ts: string
  source: string
  line: string
}

/** A client of a log stream: reads frame by frame and disconnects on request. */
export class LogReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private readonly decoder = new TextDecoder()
  private text = ''
  readonly headers: Headers

  private constructor(response: Response) {
    if (!response.body) throw new Error('no stream')
    this.headers = response.headers
    this.reader = response.body.getReader()
  }

  static async open(key: string, path: string, lastEventId?: string): Promise<LogReader> {
    const headers = { Authorization: `Bearer ${key}`, ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }) }
    const response = await send(path, { headers })
    expect(response.status).toBe(200)
    return new LogReader(response)
  }

  /** The next frame unchanged, without its blank line; null when the stream has ended. */
  async frame(): Promise<string | null> {
    for (;;) {
      const end = this.text.indexOf('\n\n')
      if (end >= 0) {
        const frame = this.text.slice(0, end)
        this.text = this.text.slice(end + 2)
        return frame
      }
      const { value, done } = await this.reader.read()
      if (done) return null
      this.text += this.decoder.decode(value, { stream: true })
    }
  }

  /** Reads to the end of the stream. */
  async ended(): Promise<void> {
    while ((await this.frame()) !== null);
  }

  /** The next `count` events, comments left out. */
  async events(count: number): Promise<LogEvent[]> {
    const events: LogEvent[] = []
    while (events.length < count) {
      const frame = await this.frame()
      if (frame === null) throw new Error(`the stream ended after ${events.length} of ${count} events`)
      const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)$/.exec(frame) ?? []
      if (id !== '') events.push({ id, ...JSON.parse(data) })
    }
    return events
  }

  async lines(count: number): Promise<string[]> {
    return (await this.events(count)).map(({ line }) => line)
  }

  async close(): Promise<void> {
    await this.reader.cancel()
  }
}
