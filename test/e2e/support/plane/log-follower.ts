import { eventually, type TestPlane } from './plane.ts'

const WAIT_MS = 90_000

interface Event {
  id: string
  source: string
  line: string
}

/** A client of the log of a worker or a pod that reads until it is closed and resumes with `Last-Event-ID`, as a browser does. */
export class LogFollower {
  private readonly events: Event[] = []
  private readonly url: string
  private readonly key: string
  private connection = new AbortController()
  private reading: Promise<void> = Promise.resolve()
  /** The error that ended the reading. */
  private fault: unknown = null

  private constructor(url: string, key: string) {
    this.url = url
    this.key = key
  }

  static open(plane: Pick<TestPlane, 'url' | 'apiKey'>, endpointId: string, workerId: string): LogFollower {
    return LogFollower.follow(plane, `/v2/serverless/${endpointId}/workers/${workerId}/logs`)
  }

  static ofPod(plane: Pick<TestPlane, 'url' | 'apiKey'>, podId: string): LogFollower {
    return LogFollower.follow(plane, `/v2/pods/${podId}/logs`)
  }

  private static follow({ url, apiKey }: Pick<TestPlane, 'url' | 'apiKey'>, path: string): LogFollower {
    const follower = new LogFollower(`${url}${path}?tail=5000`, apiKey)
    follower.reading = follower.read()
    return follower
  }

  /** Drops the connection and opens another that continues after the last event. */
  async reconnect(): Promise<void> {
    this.connection.abort()
    await this.reading
    this.connection = new AbortController()
    this.reading = this.read()
  }

  close(): void {
    this.connection.abort()
  }

  lines(): string[] {
    return this.events.map(({ line }) => line)
  }

  ids(): string[] {
    return this.events.map(({ id }) => id)
  }

  sources(): string[] {
    return this.events.map(({ source }) => source)
  }

  /** Waits until the lines so far satisfy `wanted`; the error shows the last ones. */
  async waitFor(wanted: (lines: string[]) => boolean): Promise<void> {
    await eventually('the log', WAIT_MS, async () => {
      if (this.fault !== null) throw this.fault
      return wanted(this.lines())
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.lines().slice(-20).join('\n')}`)
    })
  }

  private async read(): Promise<void> {
    const { signal } = this.connection
    const lastId = this.events.at(-1)?.id
    const headers = { authorization: `Bearer ${this.key}`, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) }
    try {
      const response = await fetch(this.url, { headers, signal })
      if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
      let text = ''
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const frames = (text + piece).split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) this.take(frame)
      }
    } catch (error) {
      // Reported to the callers that wait for lines.
      if (!signal.aborted) this.fault = error
    }
  }

  private take(frame: string): void {
    const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(frame) ?? []
    if (id !== undefined && data !== undefined) this.events.push({ id, ...JSON.parse(data) })
  }
}
