import { CHANNEL_KEY_HEADER, CHANNEL_WORKER_HEADER, channelPath, PlaneFrame } from '../../../src/host-protocol/worker-channel.ts'
import { send } from '../harness.ts'
import { until } from '../time.ts'
import type { FakeHost, FakeWorker } from './fake-host.ts'

/** The status of a refused channel, or the channel. */
type Opened = { status: number; channel: FakeChannel | null }

/** A worker channel, as an agent's relay opens it: tests send frames and read those of the plane. */
export class FakeChannel {
  /** Frames of the plane, oldest first. */
  readonly heard: PlaneFrame[] = []
  /** Takes and stop polls that have no answer yet, by their number. */
  readonly open = new Map<number, Record<string, unknown>>()
  /** Workers for whose pings it answers, by id. */
  readonly standing = new Map<string, { worker: string; boot: string }>()
  closedWith: number | null = null
  /** Number of frames that were sent. */
  sent = 0
  /** Whether it answers `sync` by itself. */
  greets = false
  private readonly socket: WebSocket
  private last = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => this.hear(PlaneFrame.parse(JSON.parse(String(data)))))
    socket.addEventListener('close', ({ code }) => {
      this.closedWith = code
    })
    socket.accept()
  }

  static async tryOpen(
    host: FakeHost,
    endpointId: string,
    worker: Pick<FakeWorker, 'id' | 'token'>,
    token = host.accessToken,
  ): Promise<Opened> {
    const reply = await send(channelPath(endpointId), {
      headers: {
        Upgrade: 'websocket',
        Authorization: `Bearer ${token}`,
        [CHANNEL_WORKER_HEADER]: worker.id,
        [CHANNEL_KEY_HEADER]: worker.token,
      },
    })
    await reply.body?.cancel()
    return { status: reply.status, channel: reply.webSocket && new FakeChannel(reply.webSocket) }
  }

  static async open(host: FakeHost, endpointId: string, worker: FakeWorker): Promise<FakeChannel> {
    const { status, channel } = await FakeChannel.tryOpen(host, endpointId, worker)
    if (!channel) throw new Error(`the plane answered ${status}`)
    return channel
  }

  say(frame: unknown): void {
    this.sent += 1
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** Repeats the open calls, as an agent does after `sync`. */
  greet(): void {
    const of = (type: string) => [...this.open.values()].flatMap(({ type: own, ...call }) => (own === type ? [call] : []))
    this.say({ type: 'hello', takes: of('take'), listens: of('listen'), standing: [...this.standing.values()] })
  }

  /** Answers for the pings of a worker from now on (CHN-30). */
  stand(worker: FakeWorker, jobs: readonly string[] = []): void {
    const from = FakeChannel.from(worker)
    this.standing.set(worker.id, from)
    this.say({ type: 'pings', pings: [{ ...from, jobs, sdkVersion: '1.12.0', stands: true }] })
  }

  /** Sends a call under the next number; returns the number. */
  call(frame: Record<string, unknown>): number {
    this.last += 1
    const call = { ...frame, n: this.last }
    if (frame.type !== 'post') this.open.set(this.last, call)
    this.say(call)
    return this.last
  }

  leave(n: number): void {
    this.say({ type: 'leave', n })
  }

  take(worker: FakeWorker, change: Record<string, unknown> = {}): number {
    return this.call({ type: 'take', ...FakeChannel.from(worker), max: 1, batch: false, idle: true, again: false, ...change })
  }

  post(worker: FakeWorker, job: string, body: unknown, change: Record<string, unknown> = {}): number {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.call({ type: 'post', ...FakeChannel.from(worker), job, verb: 'job-done', delivery: '', body: text, ...change })
  }

  listen(worker: FakeWorker): number {
    return this.call({ type: 'listen', ...FakeChannel.from(worker) })
  }

  static from(worker: FakeWorker): { worker: string; boot: string } {
    return { worker: worker.id, boot: /boot=([^&]+)/.exec(worker.url('RUNPOD_WEBHOOK_PING', ''))?.[1] ?? '' }
  }

  /** The final answer to a call, with the parts of a long one joined. */
  async answer(n: number): Promise<Extract<PlaneFrame, { n: number }>> {
    const isFinal = (frame: PlaneFrame) => 'n' in frame && frame.n === n && frame.type !== 'part'
    await until(() => this.heard.some(isFinal))
    const parts = this.heard.flatMap((frame) => (frame.type === 'part' && frame.n === n ? [frame.text] : []))
    const final = this.heard.find(isFinal) as Extract<PlaneFrame, { n: number }>
    return final.type === 'job' ? { ...final, text: parts.join('') + final.text } : final
  }

  /** Waits for the job of a take. */
  async job(n: number): Promise<{ id: string; input: unknown }> {
    const answer = await this.answer(n)
    if (answer.type !== 'job') throw new Error(`no job, but ${JSON.stringify(answer)}`)
    return JSON.parse(answer.text)
  }

  private hear(frame: PlaneFrame): void {
    if (frame.type === 'welcome') return
    this.heard.push(frame)
    if (frame.type === 'sync' && this.greets) this.greet()
    if ('n' in frame && frame.type !== 'part') this.open.delete(frame.n)
  }

  close(): void {
    this.socket.close(1000, 'test over')
  }
}
