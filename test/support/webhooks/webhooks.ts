import { type HandOver, handOverHeaders } from '../../../src/objects/hand-over.ts'
import type { WebhookSenderRpc } from '../../../src/rpc/webhook-sender.ts'
import { env, expect, runDurableObjectAlarm, runInDurableObject, teamOf } from '../harness.ts'
import { type QueueSetup, setUpQueue } from '../queue/queue.ts'
import { webhookSenderStub } from '../runner/stubs.ts'
import { eventually } from '../time.ts'
import type { Received } from './webhook-receivers.ts'

/** A queue and the receiver that its jobs name. */
export interface WebhookSetup {
  queue: QueueSetup
  sender: DurableObjectStub<WebhookSenderRpc>
  /** A host name of this test alone. */
  host: string
}

let hosts = 0

export async function setUpWebhooks(): Promise<WebhookSetup> {
  const queue = await setUpQueue()
  const sender = webhookSenderStub(env, await teamOf(queue.account))
  return { queue, sender, host: newHost() }
}

export function newHost(): string {
  hosts += 1
  return `receiver-${hosts}-${crypto.randomUUID().slice(0, 8)}.example.com`
}

/** Submits a job that names a webhook. */
export async function submit(queue: QueueSetup, webhook: string, input: unknown = {}): Promise<string> {
  const reply = await queue.post('/run', { input, webhook })
  expect(reply).toMatchObject({ status: 200, body: { status: 'IN_QUEUE' } })
  return reply.body.id
}

/** Submits a job that names a webhook and ends it at once. */
export async function cancelled(queue: QueueSetup, webhook: string): Promise<string> {
  const jobId = await submit(queue, webhook)
  await queue.post(`/cancel/${jobId}`)
  return jobId
}

/** The requests that a receiver has got so far. */
export async function receivedBy(host: string): Promise<Received[]> {
  return (await fetch(`https://control.example.com/received/${host}`)).json()
}

/** Releases every held request of a receiver. */
export async function release(host: string): Promise<void> {
  await fetch(`https://control.example.com/release/${host}`)
}

/** Waits until a receiver has got `count` requests, and returns them. */
export async function waitForReceived(host: string, count: number): Promise<Received[]> {
  return eventually(() => receivedBy(host).then((list) => (list.length >= count ? list : null)))
}

/** Waits until the sender's log contains this entry. */
export async function waitForDelivery(setup: Pick<WebhookSetup, 'sender'>, jobId: string, status: string, attempts: number) {
  return eventually(() =>
    runInDurableObject(setup.sender, (object) => {
      const found = object.store.log({ jobId, after: null, limit: 10 })[0]
      return found?.state.status === status && found.state.attempts.length === attempts && found.state.startedAtMs === null ? found : null
    }),
  )
}

/** Moves the sender's clock and runs its alarm. */
export async function advanceSender(sender: WebhookSetup['sender'], ms: number): Promise<void> {
  await runInDurableObject(sender, (object) => {
    const before = object.now
    object.now = () => before() + ms
  })
  await runDurableObjectAlarm(sender)
}

/** Hands a delivery over as an endpoint's outbox does, without a job behind it. Returns the status of the answer. */
export async function handOver(
  setup: WebhookSetup,
  change: Pick<HandOver, 'id' | 'url'> & Partial<Pick<HandOver, 'bytes'>> & { jobId?: string },
  body: BodyInit = '{}',
): Promise<number> {
  const delivery: HandOver = { endpointId: setup.queue.endpointId, jobId: 'job', bytes: 2, ...change }
  return (await setup.sender.fetch('https://webhook-sender/deliveries', { method: 'POST', headers: handOverHeaders(delivery), body }))
    .status
}

/** Runs a job with a webhook to its end. */
export async function finishJob(setup: WebhookSetup, path: string, result: unknown = { output: 1 }): Promise<string> {
  const jobId = await submit(setup.queue, `https://${setup.host}${path}`)
  const worker = await setup.queue.host.startWorker(setup.queue.endpointId)
  expect((await worker.take())?.id).toBe(jobId)
  await worker.done(jobId, result)
  return jobId
}
