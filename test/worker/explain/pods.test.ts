import { PodExplanation } from '../../../src/contract/explain/explain.ts'
import { dropExplanations } from '../../../src/effects/explain/memory.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import { admin, afterEach, createAccount, describe, env, expect, it, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, PodScene, setPod } from '../../support/pods/pod-scene.ts'

const [SMALL, LARGE] = ['NVIDIA L4', 'NVIDIA RTX A5000']

let hosts: FakeHost[] = []
afterEach(() => {
  for (const host of hosts) host.leave()
  hosts = []
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function join(...given: Parameters<typeof FakeHost.join>): Promise<FakeHost> {
  const host = await FakeHost.join(...given)
  hosts.push(host)
  return host
}

/** A data center of its own, so that hosts of other tests are no option. */
async function sceneIn(dataCenterId: string, count = 1): Promise<PodScene> {
  const host = await join(gpus(count), { dataCenterId })
  return new PodScene(host, await createAccount())
}

async function explain(scene: PodScene, id: string): Promise<PodExplanation> {
  dropExplanations()
  const reply = await scene.call.get(`${PODS}/${id}/explain`)
  expect(reply.status).toBe(200)
  expect(PodExplanation.parse(reply.body)).toEqual(reply.body)
  return reply.body
}

async function createIn(scene: PodScene, dataCenterId: string, change: Record<string, unknown> = {}): Promise<string> {
  return (await scene.create({ dataCenterIds: [dataCenterId], ...change })).id
}

async function stop(scene: PodScene, id: string): Promise<void> {
  await scene.run(id)
  await scene.act(id, 'stop')
  await scene.host.report(`${id}-1`, { state: 'exited' })
}

/** A stopped pod whose GPU another account has taken. */
async function stoppedWithoutRoom(dataCenterId: string) {
  const scene = await sceneIn(dataCenterId)
  const id = await createIn(scene, dataCenterId)
  await stop(scene, id)
  const otherTenant = new PodScene(scene.host, await createAccount())
  const other = await createIn(otherTenant, dataCenterId, { name: 'secret-name' })
  return { scene, id, stranger: otherTenant, other }
}

const OPTION = { who: 'YOU', waitSeconds: null }

describe('[WHY-1] [WHY-4] why a pod is where it is', () => {
  it('on its way, running, and stopped: one sentence, the time, and the start call', async () => {
    const scene = await sceneIn('EU-CZ-1')
    const id = await createIn(scene, 'EU-CZ-1')
    const fresh = await explain(scene, id)
    expect(fresh).toEqual({
      id,
      status: 'PROVISIONING',
      code: 'PREPARING',
      verdict: 'The pod is placed; its host machine prepares it.',
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      sinceMs: expect.any(Number),
      evidence: [{ kind: 'STATE', text: 'PROVISIONING', count: null, total: null, at: fresh.since }],
      options: [],
      asOf: expect.stringMatching(/^\d{4}-.*Z$/),
      isStale: false,
    })
    await scene.run(id)
    expect(await explain(scene, id)).toMatchObject({ status: 'RUNNING', code: 'RUNNING', verdict: 'The pod is running.', options: [] })
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    const stopped = await explain(scene, id)
    expect(stopped).toMatchObject({
      code: 'STOPPED',
      verdict: 'The pod was stopped through the API, the command line or the console.',
      isStale: false,
    })
    const call = { method: 'POST', path: `${PODS}/${id}/action`, body: { action: 'start' } }
    expect(stopped.options).toEqual([
      { ...OPTION, kind: 'START', summary: 'start it', call, pricePerHour: expect.closeTo(0.44, 2), priceDifference: 0 },
    ])
  })

  it('an ended pod, and a pod that could not run, have the reason', async () => {
    const scene = await sceneIn('EU-CZ-1', 2)
    const [ended, failed] = [await createIn(scene, 'EU-CZ-1'), await createIn(scene, 'EU-CZ-1')]
    await scene.run(ended)
    await scene.host.report(`${ended}-1`, { state: 'exited', reason: 'exited with code 3' })
    await scene.host.waitFor(({ id }) => id === `${failed}-1`)
    await scene.host.report(`${failed}-1`, { state: 'error', reason: 'image not found' })
    expect(await explain(scene, ended)).toMatchObject({ code: 'ENDED', verdict: 'The pod has ended: exited with code 3.' })
    expect(await explain(scene, failed)).toMatchObject({ code: 'FAILED', verdict: 'The pod could not run: image not found.' })
  })

  it('a member of a cluster waits for the others, and has no action of its own', async () => {
    const scene = await sceneIn('EU-CZ-1')
    const id = await createIn(scene, 'EU-CZ-1')
    await setPod(id, { cluster_id: 'cluster1' })
    expect((await explain(scene, id)).code).toBe('WAITS_FOR_CLUSTER')
    await setPod(id, { cluster_id: null })
    await stop(scene, id)
    await setPod(id, { cluster_id: 'cluster1' })
    expect(await explain(scene, id)).toMatchObject({ code: 'STOPPED', options: [] })
  })
})

describe('[WHY-2] [WHY-3] a stopped pod whose place is taken', () => {
  it('has the missing resources of its host, and the option of a new pod where there is room; the call makes it', async () => {
    const { scene, id } = await stoppedWithoutRoom('EU-NL-1')
    const alone = await explain(scene, id)
    expect(alone).toMatchObject({
      code: 'NO_CAPACITY',
      verdict: expect.stringContaining('and its host machine has no capacity to start it: needs 1 free NVIDIA L4'),
      evidence: expect.arrayContaining([{ kind: 'CONSTRAINT', text: 'needs 1 free NVIDIA L4', count: 1, total: 1, at: null }]),
    })
    await join(gpus(1, SMALL), { dataCenterId: 'EU-NL-1' })
    const { options } = await explain(scene, id)
    expect(options).toMatchObject([{ kind: 'RECREATE', priceDifference: 0, call: { method: 'POST', path: PODS } }])
    const made = await scene.call.post(options[0]?.call?.path ?? '', options[0]?.call?.body)
    expect(made).toMatchObject({ status: 201, body: { status: 'PROVISIONING', dataCenterId: 'EU-NL-1', gpu: { id: SMALL } } })
    // The capacity that the new pod took is not offered again.
    expect((await explain(scene, id)).options.map(({ kind }) => kind)).not.toContain('RECREATE')
  })

  it('[WHY-7] nothing of another account is named, nor any host', async () => {
    const { scene, id, stranger: otherTenant, other } = await stoppedWithoutRoom('EU-NL-1')
    const text = JSON.stringify(await explain(scene, id))
    for (const secret of [other, 'secret-name', otherTenant.account.userId, otherTenant.account.email, scene.host.id])
      expect(text).not.toContain(secret)
    expect((await otherTenant.call.get(`${PODS}/${id}/explain`)).status).toBe(404)
  })

  it('another type of GPU is offered with its price, and the call starts it', async () => {
    const { scene, id } = await stoppedWithoutRoom('EU-FR-1')
    await join(gpus(1, LARGE), { dataCenterId: 'EU-FR-1' })
    const option = (await explain(scene, id)).options.find(({ kind }) => kind === 'GPU_TYPE')
    expect(option).toMatchObject({ summary: expect.stringContaining(`use ${LARGE}`) })
    const made = await scene.call.post(PODS, option?.call?.body)
    expect(made).toMatchObject({ status: 201, body: { gpu: { id: LARGE } } })
    expect(made.body.cost).toBeCloseTo(option?.pricePerHour ?? 0, 2)
    expect(option?.priceDifference).toBeCloseTo(made.body.cost - 0.44, 6)
  })
})

describe('steps of other parties', () => {
  it('a host that takes no work, and one that is offline', async () => {
    const scene = await sceneIn('EU-SE-1')
    const id = await createIn(scene, 'EU-SE-1')
    await stop(scene, id)
    await admin().post(`/admin/v1/hosts/${scene.host.id}/cordon`, { reason: 'a broken fan' })
    const cordoned = await explain(scene, id)
    expect(cordoned).toMatchObject({ code: 'HOST_UNAVAILABLE', verdict: expect.stringContaining('is cordoned') })
    expect(cordoned.options[0]).toMatchObject({ kind: 'UNCORDON', who: 'OPERATOR', call: null, priceDifference: 0 })
    expect(JSON.stringify(cordoned)).not.toContain('broken fan')
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(scene.host.id).run()
    expect(await explain(scene, id)).toMatchObject({ code: 'HOST_UNAVAILABLE', verdict: expect.stringContaining('is offline') })
  })

  it('a lost host: a pod like it is made on another host', async () => {
    const scene = await sceneIn('EU-SE-1')
    const id = await createIn(scene, 'EU-SE-1')
    await join(gpus(1), { dataCenterId: 'EU-SE-1' })
    await setPod(id, { status: 'ERROR', host_lost: 1, status_reason: 'its host is lost' })
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(scene.host.id).run()
    expect(await explain(scene, id)).toMatchObject({ code: 'HOST_LOST', options: [{ kind: 'RECREATE' }] })
  })

  it('[WHY-6] a spend limit: the limit under which it starts, and once it is set it does', async () => {
    const scene = await sceneIn('EU-SE-1')
    const id = await createIn(scene, 'EU-SE-1')
    await stop(scene, id)
    expect((await scene.call.patch('/v2/billing/limits', { perHour: 0.2 })).status).toBe(200)
    const limited = await explain(scene, id)
    expect(limited).toMatchObject({ code: 'SPEND_LIMIT', evidence: [{}, { kind: 'LIMIT', text: expect.stringContaining('0.20 USD') }] })
    const [option] = limited.options
    expect(option).toMatchObject({ kind: 'SPEND_LIMIT', who: 'YOU', call: { method: 'PATCH', path: '/v2/billing/limits' } })
    expect((await scene.act(id, 'start')).status).toBe(402)
    expect((await scene.call.patch(option?.call?.path ?? '', option?.call?.body)).status).toBe(200)
    expect((await scene.act(id, 'start')).status).toBe(200)
    // One cent less would not suffice.
    const given = option?.call?.body as { perHour: number }
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-2`, { state: 'gone' })
    await scene.call.patch('/v2/billing/limits', { perHour: given.perHour - 0.01 })
    expect((await scene.act(id, 'start')).status).toBe(402)
  })

  it('[WHY-6] limits that only the operator can raise', async () => {
    const scene = await sceneIn('EU-SE-1', 2)
    const id = await createIn(scene, 'EU-SE-1')
    await stop(scene, id)
    await createIn(scene, 'EU-SE-1')
    await admin().put(`/admin/v1/users/${scene.account.userId}/budgets`, { gpus: 1 })
    expect(await explain(scene, id)).toMatchObject({ code: 'QUOTA', options: [{ kind: 'QUOTA', who: 'OPERATOR', call: null }] })
    await admin().put(`/admin/v1/users/${scene.account.userId}/budgets`, {})
    await admin().put(`/admin/v1/users/${scene.account.userId}/spend-limits`, { perHour: 0.5 })
    expect(await explain(scene, id)).toMatchObject({ code: 'SPEND_LIMIT', options: [{ kind: 'SPEND_LIMIT', who: 'OPERATOR', call: null }] })
  })
})

describe('[WHY-5] stale telemetry', () => {
  it('removes the advice: the usage of a running pod is unknown, and nothing is promised for a stopped one', async () => {
    const scene = await sceneIn('EU-RO-1', 2)
    const [running, stopped] = [await createIn(scene, 'EU-RO-1'), await createIn(scene, 'EU-RO-1')]
    await scene.run(running)
    await stop(scene, stopped)
    expect((await explain(scene, stopped)).options).toHaveLength(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 16_000 })
    expect(await explain(scene, running)).toMatchObject({ code: 'HOST_SILENT', isStale: true, options: [] })
    expect(await explain(scene, stopped)).toMatchObject({ code: 'STOPPED', isStale: true, options: [] })
    vi.useRealTimers()
  })
})

describe('[WHY-9] the cost of an explanation', () => {
  it('is a limited number of queries, and while it is polled less than that of a page of pods', async () => {
    const { scene, id } = await stoppedWithoutRoom('EU-RO-1')
    await scene.get(id)
    // The clock stands still, so that a reply stays cached however slow the machine is.
    vi.useFakeTimers({ toFake: ['Date'] })
    dropExplanations()
    const calls = watchDatabase()
    const statementsOf = async (path: string) => {
      calls.length = 0
      await scene.call.get(path)
      return calls.flat().length
    }
    expect(await statementsOf(`${PODS}/${id}/explain`)).toBeLessThanOrEqual(10)
    const polled = await statementsOf(`${PODS}/${id}/explain`)
    expect(polled).toBe(1)
    expect(polled).toBeLessThanOrEqual(await statementsOf(PODS))
  })
})
