import type { WhyOption } from '../../../src/contract/explain/explain.ts'
import { dropExplanations } from '../../../src/effects/explain/memory.ts'
import { afterEach, api, createAccount, describe, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, PodScene, podBody } from '../../support/pods/pod-scene.ts'
import { advance, freezeClock, run, setUpQueue } from '../../support/queue/queue.ts'
import { until } from '../../support/time.ts'

const GPU = 'NVIDIA H200'

let hosts: FakeHost[] = []
let places = 0
afterEach(() => {
  for (const host of hosts) host.leave()
  hosts = []
})

/** A host with `count` GPUs in a data center of its own, an account, and an endpoint that runs only there. */
async function sceneOf(count: number, workers = { min: 0, max: 1, idleTimeout: 60 }) {
  places += 1
  const here = { dataCenterIds: [`DC-WHY-${places}`] }
  const host = await FakeHost.join(gpus(count, GPU), { dataCenterId: here.dataCenterIds[0] ?? '' })
  hosts.push(host)
  const queue = await setUpQueue({ gpu: { pools: ['HOPPER_141'] }, ...here, workers })
  const scene = new PodScene(host, queue.account)
  const create = (change: Record<string, unknown> = {}) => scene.create({ gpu: { id: GPU }, ...here, ...change })
  return { host, queue, scene, create, body: podBody({ gpu: { id: GPU }, ...here }) }
}

type Scene = Awaited<ReturnType<typeof sceneOf>>

async function optionsOf(reply: Promise<{ body: { options: WhyOption[] } }>, kind: WhyOption['kind']): Promise<WhyOption[]> {
  return (await reply).body.options.filter((option) => option.kind === kind)
}

function dryRun({ scene, body }: Scene) {
  dropExplanations()
  return scene.call.post(`${PODS}?dryRun=true`, body)
}

/** Sends the stop call of an option. */
async function carryOut({ scene, host }: Scene, option: WhyOption | undefined): Promise<void> {
  const { path = '', body } = option?.call ?? {}
  const reply = await scene.call.post(path, body)
  expect(reply.status).toBe(200)
  await host.report(`${reply.body.id}-1`, { state: 'exited' })
}

describe('[WHY-14] a pod of the account that holds the room', () => {
  it('is offered to be stopped where a job waits for it; the call does that, and the job runs', async () => {
    const made = await sceneOf(1)
    const { queue, scene, host } = made
    const { id } = await made.create({ name: 'box' })
    await scene.run(id)
    const jobId = await run(queue)
    await until(async () => (await queue.get('/health')).body.workers.throttled === 1)
    dropExplanations()
    const [stop, ...others] = await optionsOf(queue.get(`/explain/${jobId}`), 'STOP')
    expect(others).toEqual([])
    expect(stop).toEqual({
      kind: 'STOP',
      summary: 'stop your pod box',
      who: 'YOU',
      call: { method: 'POST', path: `${PODS}/${id}/action`, body: { action: 'stop' } },
      pricePerHour: expect.any(Number),
      priceDifference: expect.any(Number),
      waitSeconds: null,
      loses: expect.stringContaining('Its disks are kept'),
    })
    expect(stop?.priceDifference).toBeLessThan(0)
    expect(await optionsOf(scene.call.get(`/v2/serverless/${queue.endpointId}/explain`), 'STOP')).toEqual([stop])
    await carryOut(made, stop)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
  })

  it('is offered where a pod is requested, or cannot start again; a locked one, and those of others, are not', async () => {
    const made = await sceneOf(1)
    const { scene, host } = made
    const first = await made.create({ name: 'first' })
    await scene.run(first.id)
    await scene.act(first.id, 'stop')
    await host.report(`${first.id}-1`, { state: 'exited' })
    const second = await made.create({ name: 'second' })
    await scene.run(second.id)
    const explain = (client = scene.call) => {
      dropExplanations()
      return client.get(`${PODS}/${first.id}/explain`)
    }
    const [stop] = await optionsOf(explain(), 'STOP')
    expect(stop?.summary).toBe('stop your pod second')
    expect(await optionsOf(dryRun(made), 'STOP')).toMatchObject([{ summary: 'stop your pod second', call: stop?.call }])
    const otherTenant = await createAccount()
    expect(await optionsOf(api(otherTenant.key).post(`${PODS}?dryRun=true`, made.body), 'STOP')).toEqual([])
    await scene.call.patch(`${PODS}/${second.id}`, { locked: true })
    expect([...(await optionsOf(explain(), 'STOP')), ...(await optionsOf(dryRun(made), 'STOP'))]).toEqual([])
    await scene.call.patch(`${PODS}/${second.id}`, { locked: false })
    await carryOut(made, stop)
    const [start] = await optionsOf(explain(), 'START')
    expect((await scene.call.post(start?.call?.path ?? '', start?.call?.body)).body).toMatchObject({ id: first.id, status: 'STARTING' })
  })
})

describe('[WHY-15] an idle worker of the account that leaves', () => {
  it('is named as awaited, with the time; then the pod is made', async () => {
    const made = await sceneOf(1)
    const { queue, host, scene } = made
    await freezeClock(queue.endpointId)
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    expect(await optionsOf(dryRun(made), 'WAIT')).toEqual([])
    await worker.done(jobId, { output: 1 })
    const [wait] = await optionsOf(dryRun(made), 'WAIT')
    expect(wait).toMatchObject({ who: 'YOU', call: null, summary: expect.stringContaining('an idle worker of your endpoint') })
    expect(wait?.waitSeconds).toBeGreaterThan(30)
    expect(wait?.waitSeconds).toBeLessThanOrEqual(61)
    await advance(queue.endpointId, 61_000)
    await host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
    await host.report(worker.id, { state: 'gone' })
    expect((await dryRun(made)).body).toMatchObject({ fits: true, options: [] })
    expect((await scene.call.post(PODS, made.body)).status).toBe(201)
  })

  it('is not awaited if workers.min keeps it', async () => {
    const made = await sceneOf(1, { min: 1, max: 1, idleTimeout: 60 })
    const worker = await made.host.startWorker(made.queue.endpointId)
    const jobId = await run(made.queue)
    expect((await worker.take())?.id).toBe(jobId)
    await worker.done(jobId, { output: 1 })
    expect(await optionsOf(dryRun(made), 'WAIT')).toEqual([])
  })
})
