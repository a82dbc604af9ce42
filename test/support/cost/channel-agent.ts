import { StandingPings } from '../../../src/host-agent/relay/channel/standing-pings.ts'
import { FakeChannel } from '../hosts/fake-channel.ts'
import type { FakeHost, FakeWorker } from '../hosts/fake-host.ts'

/** Interval of pings, as the plane says it in its welcome. */
const PING_MS = 10_000

/** The frames of one worker over a channel as an agent sends them, with a clock that the test moves. */
export class ChannelAgent {
  readonly channel: FakeChannel
  private readonly worker: FakeWorker
  private readonly pings = new StandingPings(PING_MS)
  private recalls = 0
  private openTake = 0

  private constructor(channel: FakeChannel, worker: FakeWorker) {
    this.channel = channel
    this.worker = worker
  }

  static async open(host: FakeHost, endpointId: string, worker: FakeWorker): Promise<ChannelAgent> {
    return new ChannelAgent(await FakeChannel.open(host, endpointId, worker), worker)
  }

  /** The worker polls for work and for stops; both calls stay open. */
  poll(): void {
    this.openTake = this.channel.take(this.worker)
  }

  listen(): void {
    this.channel.listen(this.worker)
  }

  /** Waits for a job of the open take. */
  async take(): Promise<void> {
    await this.channel.job(this.openTake)
    this.pings.stir(this.worker.id)
  }

  /** The worker sends a ping, which reaches the plane only if it does not count on it. True: it was sent. */
  ping(jobs: readonly string[], nowMs: number): boolean {
    const recalls = this.channel.heard.filter(({ type }) => type === 'recall').length
    if (recalls > this.recalls) this.pings.stir(this.worker.id)
    this.recalls = recalls
    const ping = this.pings.take({ ...FakeChannel.from(this.worker), jobs: [...jobs], sdkVersion: '1.12.0' }, nowMs)
    if (ping) this.channel.say({ type: 'pings', pings: [ping] })
    return ping !== undefined
  }

  /** Posts the result of a job, and asks for the next one. */
  async done(jobId: string): Promise<void> {
    this.pings.stir(this.worker.id)
    await this.channel.answer(this.channel.post(this.worker, jobId, { output: 1 }))
  }
}
