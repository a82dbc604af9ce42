import { watchObjectCalls } from '../../support/cost/calls.ts'
import { admin, afterEach, api, describe, env, expect, it, runInDurableObject, vi } from '../../support/harness.ts'
import { reply } from '../../support/hosts/fake-tunnel.ts'
import { openRequests, type Scene, setUp, startWorker } from '../../support/queue/balancer-scene.ts'
import { endpointStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

afterEach(() => vi.restoreAllMocks())

/** Names of the calls for slots from now on. */
function watchSlotCalls(): string[] {
  const calls: string[] = []
  watchObjectCalls(({ text }) => {
    if (/slot/i.test(text)) calls.push(/takeSlotNow|releaseSlot|giveBackSlot/.exec(text)?.[0] ?? 'wait')
  })
  return calls
}

/** A scene whose caller has the limits of an ordinary user. */
async function setUpLimited(change: Record<string, unknown> = {}): Promise<Scene> {
  const scene = await setUp(change)
  await admin().put(`/admin/v1/users/${scene.account.userId}/quotas`, { minute: 60, hour: 3000, day: 50000, exempt: false })
  return scene
}

const watchLimits = ({ endpointId }: Scene) =>
  runInDurableObject(endpointStub(env, endpointId), ({ core }) => vi.spyOn(core.limits, 'enter'))

/** Number of requests to workers that were counted; `/health` counts too. */
const served = (entered: Awaited<ReturnType<typeof watchLimits>>) =>
  entered.mock.calls.filter(([bucket]) => bucket === 'load-balancer').length

describe('the slot of a request', () => {
  it('[LB-4, LB-10] is taken by one small call if it is free; the request is counted once', async () => {
    const scene = await setUpLimited({ workers: { min: 1, max: 1 } })
    await startWorker(scene)
    const entered = await watchLimits(scene)
    const calls = watchSlotCalls()
    expect((await scene.ask('/')).status).toBe(200)
    await until(() => calls.includes('releaseSlot'))
    expect([calls, served(entered)]).toEqual([['takeSlotNow', 'releaseSlot'], 1])
  })

  it('[LB-3, LB-10] is waited for by a second call if none is free; the request is counted once', async () => {
    const scene = await setUpLimited()
    const entered = await watchLimits(scene)
    const calls = watchSlotCalls()
    const asked = scene.ask('/')
    await until(async () => (await openRequests(scene)).waiting === 1)
    await startWorker(scene)
    expect((await asked).status).toBe(200)
    expect([calls.slice(0, 2), served(entered)]).toEqual([['takeSlotNow', 'wait'], 1])
    await until(async () => (await openRequests(scene)).inFlight === 0)
  })

  it('[LB-6] is refused at once with `workers.max` 0, also while a busy worker has free slots', async () => {
    const open: (() => void)[] = []
    const change = { scaling: { type: 'REQUEST_COUNT', requestCount: 5 }, workers: { min: 0, max: 1 } }
    const scene = await setUp(change, async ({ stream }) => {
      stream.accept()
      await new Promise<void>((resolve) => open.push(resolve))
      await reply(stream, 200, 'done')
    })
    const first = scene.ask('/')
    await startWorker(scene)
    await until(() => open.length === 1)
    const changed = await api(scene.account.key).patch(`/v2/serverless/${scene.endpointId}`, { workers: { min: 0, max: 0 } })
    expect(changed.status).toBe(200)
    expect((await scene.ask('/')).status).toBe(503)
    for (const go of open) go()
    await first
  })

  it('[LB-4] is asked for in the way of the previous release while its object still runs that one', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } })
    await startWorker(scene)
    const restore = await runInDurableObject(endpointStub(env, scene.endpointId), (object) => {
      const prototype = Object.getPrototypeOf(object) as Record<string, unknown>
      const { takeSlotNow } = prototype
      delete prototype.takeSlotNow
      return () => Object.assign(prototype, { takeSlotNow })
    })
    const { status } = await scene.ask('/')
    restore()
    expect(status).toBe(200)
  })

  it('[LB-10] is not taken beyond the limit of its user, also where workers have free slots', async () => {
    const scene = await setUpLimited({ workers: { min: 1, max: 1 } })
    await startWorker(scene)
    await runInDurableObject(endpointStub(env, scene.endpointId), ({ core }) => {
      const { limits } = core
      const enter = limits.enter.bind(limits)
      const refusal = { key: 'rateLimited', detail: 'too many', headers: { 'retry-after': '3' } } as const
      vi.spyOn(limits, 'enter').mockImplementation((bucket, ...rest) => (bucket === 'load-balancer' ? { refusal } : enter(bucket, ...rest)))
    })
    const answer = await scene.ask('/')
    expect([answer.status, answer.headers.get('retry-after'), await openRequests(scene)]).toEqual([429, '3', { inFlight: 0, waiting: 0 }])
  })

  it('[LB-6] is given in order of arrival: a later request takes no free slot while others wait', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 }, scaling: { type: 'REQUEST_COUNT', requestCount: 1 } })
    await startWorker(scene)
    await runInDurableObject(endpointStub(env, scene.endpointId), async ({ core: { slots } }) => {
      const take = (lease: string) => slots.take(lease, () => undefined, new AbortController().signal, 60_000)
      const admit = vi.fn(() => () => undefined)
      expect(slots.takeNow('first', admit)).toMatchObject({ lease: 'first' })
      const second = take('second')
      expect([slots.takeNow('third', admit), admit.mock.calls.length]).toEqual([null, 1])
      slots.giveBack('first')
      expect(await second).toMatchObject({ lease: 'second' })
      expect([slots.takeNow('third', admit), admit.mock.calls.length]).toEqual([null, 1])
      slots.giveBack('second')
      expect([slots.takeNow('none', () => null), slots.held().size]).toEqual([null, 0])
    })
  })
})
