import { USE_HTTP } from '../../../src/host-protocol/worker-channel.ts'
import { FakeChannel } from './fake-channel.ts'
import { FakeWorker } from './fake-host.ts'

const OK = 200

type Answer = Awaited<ReturnType<FakeChannel['answer']>>

/** A worker whose calls reach the plane over a worker channel, as its host's relay sends them. */
export class ChannelWorker extends FakeWorker {
  private readonly channel: () => Promise<FakeChannel>

  /** `channel` returns the open channel of its host to its endpoint. */
  constructor(worker: FakeWorker, channel: () => Promise<FakeChannel>) {
    super(worker.workload)
    this.channel = channel
  }

  override async take(options: { jobInProgress?: '0' | '1'; signal?: AbortSignal } = {}): Promise<{ id: string; input: unknown } | null> {
    const answer = await this.poll({ max: 1, batch: false, idle: options.jobInProgress !== '1' }, options.signal)
    if (usesHttp(answer)) return super.take(options)
    return answer.type === 'job' ? JSON.parse(answer.text) : null
  }

  override async takeBatch(size: number, idle = true, signal?: AbortSignal): Promise<{ id: string }[]> {
    const answer = await this.poll({ max: size, batch: true, idle }, signal)
    if (usesHttp(answer)) return super.takeBatch(size, idle, signal)
    return answer.type === 'job' ? JSON.parse(answer.text) : []
  }

  override async done(jobId: string, body: unknown): Promise<number> {
    return usesHttp(await this.post(jobId, body, 'job-done')) ? super.done(jobId, body) : OK
  }

  override async stream(jobId: string, body: unknown): Promise<number> {
    return usesHttp(await this.post(jobId, body, 'job-stream')) ? super.stream(jobId, body) : OK
  }

  override async ping(jobIds: readonly string[] = [], sdkVersion = '1.12.0'): Promise<number> {
    const channel = await this.channel()
    channel.say({ type: 'pings', pings: [{ ...FakeChannel.from(this), jobs: jobIds, sdkVersion }] })
    // Frames are applied in order, so the answer to a call that changes nothing is after the ping.
    await channel.answer(channel.take(this, { boot: 'none' }))
    return OK
  }

  private async poll(call: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
    const channel = await this.channel()
    const n = channel.take(this, call)
    signal?.addEventListener('abort', () => channel.leave(n))
    return channel.answer(n)
  }

  private async post(jobId: string, body: unknown, verb: string): Promise<Answer> {
    const channel = await this.channel()
    return channel.answer(channel.post(this, jobId, body, { verb }))
  }
}

/** Whether the object leaves a call to HTTP, as for a worker that it does not know any more. */
function usesHttp(answer: Answer): boolean {
  return (answer.type === 'nothing' || answer.type === 'ack') && answer.status === USE_HTTP
}
