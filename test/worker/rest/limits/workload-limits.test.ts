import { RESERVED_WORDS } from '../../../../src/contract/reserved-words.ts'
import { directiveOf } from '../../../../src/http/graphql/directives.ts'
import { executableSchema } from '../../../../src/http/graphql/server.ts'
import { V1_ROUTES } from '../../../../src/http/v1/v1-api.ts'
import { DOCUMENTED } from '../../../support/access/operations.ts'
import {
  type Account,
  admin,
  api,
  beforeEach,
  createAccount,
  createKey,
  createKeyIn,
  createOrganization,
  createPlan,
  describe,
  env,
  expect,
  it,
  joinTeam,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { Browser } from '../../../support/http/browser.ts'
import { graphql } from '../../../support/http/graphql.ts'
import { v1 } from '../../../support/http/v1.ts'
import { PODS, PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { podLimiterStub, rateLimiterStub } from '../../../support/runner/stubs.ts'
import { realTime } from '../../../support/time.ts'

const KEYS = '/v2/account/keys'
const MINUTE_MS = 60_000
/** Longer than the calls here that must count within one minute. */
const CLOSE_MS = 15_000

// The end of a minute within a test would give each caller a second reserve.
beforeEach(async () => {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS)
  if (leftMs < CLOSE_MS) await realTime(leftMs, 'the windows are those of the clock')
}, 2 * CLOSE_MS)

const setQuota = (userId: string, members: object) =>
  admin().put(`/admin/v1/users/${userId}/quotas`, { minute: 60, hour: 3000, day: 50_000, exempt: false, ...members })

/** Uses up the window of a user, so that only the reserve remains: a tenth of a hundred calls a minute, or at least five. */
async function useUp({ userId, key }: Account, minute: number): Promise<void> {
  await setQuota(userId, { minute, hour: 1 })
  expect((await api(key).get(PODS)).status).toBe(200)
  expect((await api(key).get(PODS)).status).toBe(429)
}

async function keyInside(scene: PodScene, id: string): Promise<string> {
  const workload = await scene.host.waitFor((one) => one.id === `${id}-1`)
  return workload.platformEnv.RUNPOD_API_KEY ?? ''
}

/** Sends requests with a pod's key until some are refused. */
async function flood(key: string, id: string): Promise<void> {
  const replies = await Promise.all(Array.from({ length: 70 }, () => api(key).get(`${PODS}/${id}`)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(60)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(10)
}

describe('the key of a pod', () => {
  it('[S15] [CAP-1] uses up nothing of its owner, whose every call gets the same reply as before', async () => {
    const scene = await podScene(gpus(2))
    const { key, userId } = scene.account
    const [id, other] = [(await scene.create()).id, (await scene.create()).id]
    const console = await Browser.signedIn(key)
    await setQuota(userId, {})
    await flood(await keyInside(scene, id), id)
    const seen = await api(key).get(KEYS)
    expect([seen.status, seen.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"minute";r=59;')])
    expect((await console.page('POST', `${PODS}/${other}/action`, { action: 'stop' })).status).toBe(200)
    expect((await api(key).post(KEYS, { name: 'another' })).status).toBe(201)
    expect((await api(key).delete(`${PODS}/${id}`)).status).toBe(204)
    expect((await api(key).get(`${PODS}/${id}`)).status).toBe(404)
    expect((await scene.get(other)).desiredStatus ?? (await scene.get(other)).status).toMatch(/EXITED|STOPPING/)
    scene.leave()
  })

  it('[S15] [CAP-1] of a pod that a DEV has started in an organization does not affect the OWNER', async () => {
    const scene = await podScene(gpus(1))
    const [owner, dev] = [await createAccount({ exempt: false }), await createAccount({ exempt: false })]
    const organization = await createOrganization(owner.key)
    await joinTeam(organization, dev, 'DEV')
    const { key } = await createKeyIn(organization, dev)
    const made = await api(key).post(PODS, podBody())
    expect(made.status).toBe(201)
    await flood(await keyInside(scene, made.body.id), made.body.id)
    const own = await createKeyIn(organization, owner)
    expect((await api(owner.key).get(PODS)).status).toBe(200)
    expect((await api(own.key).get(PODS)).status).toBe(200)
    expect((await api(key).get(PODS)).status).toBe(200)
    const console = await Browser.signedIn(owner.key)
    expect((await console.page('DELETE', `/v2/organizations/${organization}/members/${dev.userId}`)).status).toBe(204)
    expect((await api(key).get(PODS)).status).toBe(401)
    scene.leave()
  })

  it('[CAP-1] [CAP-3] has windows that no other pod and no person uses, and stops its pod nevertheless', async () => {
    const scene = await podScene(gpus(2))
    const [a, b] = [(await scene.create()).id, (await scene.create()).id]
    const [keyOfA, keyOfB] = [await keyInside(scene, a), await keyInside(scene, b)]
    await setQuota(scene.account.userId, {})
    await flood(keyOfA, a)
    const other = await api(keyOfB).get(`${PODS}/${b}`)
    expect([other.status, other.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"minute";r=59;')])
    expect((await graphql(keyOfA)(`{ pod(input: {podId: "${a}"}) { id } }`)).status).toBe(429)
    expect((await v1(keyOfA).get(`/pods/${a}`)).status).toBe(429)
    expect((await api(keyOfA).post(`${PODS}/${a}/action`, { action: 'restart' })).status).toBe(429)
    expect((await api(keyOfA).post(`${PODS}/${a}/action`, { action: 'stop' })).status).toBe(200)
    scene.leave()
  })

  it('[CAP-2] shares ten quotas with all pods of its account, however many they are, and keeps its own count', async () => {
    const stub = podLimiterStub(env, crypto.randomUUID())
    const noon = Date.UTC(2030, 0, 1, 12)
    const take = async (pod: number, ends = false) => stub.take(5, 1000, 1000, noon, ends, `pod${pod}`)
    for (let pod = 0; pod < 10; pod += 1) for (let n = 0; n < 5; n += 1) expect((await take(pod))[1], `${pod} ${n}`).toBe(1)
    const [, served, used] = await take(10)
    expect([served, used]).toEqual([0, 5])
    for (let n = 0; n < 5; n += 1) expect((await take(10, true))[1]).toBe(1)
    expect((await take(10, true))[1]).toBe(0)
    expect((await stub.take(5, 1000, 1000, noon + MINUTE_MS, false, 'pod10'))[1]).toBe(1)
  })
})

describe('the keys of pods in organizations of one person', () => {
  it('[CAP-2] [SHR-45] share the windows of that person, and one with a plan has its own; another person goes on', async () => {
    const scene = await podScene(gpus(5))
    const victim = (await scene.create()).id
    const keyOfVictim = await keyInside(scene, victim)
    const seen = async () => (await api(keyOfVictim).get(`${PODS}/${victim}`)).status
    expect(await seen()).toBe(200)
    const maker = await createAccount()
    const podIn = async (organization: string) => {
      const { key } = await createKeyIn(organization, maker)
      const own = new PodScene(scene.host, { ...maker, key })
      const { id } = await own.create()
      return { id, key: await keyInside(own, id) }
    }
    const planned = await createOrganization(maker.key)
    const plan = await createPlan({})
    expect((await admin().put(`/admin/v1/organizations/${planned}/plan`, { plan })).status).toBe(200)
    const one = await podIn(await createOrganization(maker.key))
    const other = await podIn(await createOrganization(maker.key))
    const alone = await podIn(planned)
    await setQuota(maker.userId, { minute: 3 })
    const served = async ({ id, key }: { id: string; key: string }) => {
      const replies = await Promise.all(Array.from({ length: 40 }, () => api(key).get(`${PODS}/${id}`)))
      return replies.filter(({ status }) => status === 200).length
    }
    expect([await served(one), await served(other), await served(alone)]).toEqual([30, 0, 40])
    expect(await seen()).toBe(200)
    scene.leave()
  })
})

describe('the reserve', () => {
  it('[S15] [CAP-3] lets a user who has used up a window stop, delete and revoke, a limited number of times', async () => {
    const scene = await podScene(gpus(3))
    const { account } = scene
    const ids = [(await scene.create()).id, (await scene.create()).id, (await scene.create()).id]
    const spare = await createKey(account.userId)
    await useUp(account, 10)
    const { post, delete: remove, get } = api(account.key)
    const first = await post(`${PODS}/${ids[0]}/action`, { action: 'stop' })
    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"hour";r=0;')])
    expect((await remove(`${PODS}/${ids[1]}`)).status).toBe(204)
    expect((await remove(`${KEYS}/${spare.id}`)).status).toBe(204)
    const terminate = `mutation { podTerminate(input: {podId: "${ids[2]}"}) }`
    expect((await graphql(account.key)(terminate)).body).toEqual({ data: { podTerminate: null } })
    expect((await v1(account.key).post(`/pods/${ids[0]}/stop`)).status).not.toBe(429)
    const last = await remove(`${PODS}/${ids[0]}`)
    expect(last).toMatchObject({ status: 429, body: { detail: 'rate limit exceeded for the minute window' } })
    expect(Number(last.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(last.headers.get('ratelimit')).toContain('"hour";r=0;')
    expect((await get(PODS)).status).toBe(429)
    await setQuota(account.userId, { exempt: true })
    expect(await scene.get(ids[0] ?? '')).toMatchObject({ id: ids[0] })
    expect((await api(account.key).get(`${PODS}/${ids[1]}`)).status).toBe(404)
    expect((await api(account.key).get(`${PODS}/${ids[2]}`)).status).toBe(404)
    scene.leave()
  })

  it('[CAP-3] [SHR-44] of a stolen key is not that of another key or of the console, which list keys, stop and revoke', async () => {
    const scene = await podScene(gpus(2))
    const { account } = scene
    const [a, b] = [(await scene.create()).id, (await scene.create()).id]
    const stolen = await createKey(account.userId)
    const console = await Browser.signedIn(account.key)
    await setQuota(account.userId, { minute: 60, hour: 1 })
    const thief = api(stolen.key)
    expect((await thief.get(PODS)).status).toBe(200)
    const flood = async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => thief.delete(`${PODS}/nosuch00000000`)))
      return replies.filter(({ status }) => status !== 429).length
    }
    expect([await flood(), await flood()]).toEqual([6, 0])
    expect((await api(account.key).get(PODS)).status).toBe(429)
    const listed = await api(account.key).get(KEYS)
    expect(listed.body.keys.map(({ id }: { id: string }) => id)).toContain(stolen.id)
    expect((await api(account.key).post(`${PODS}/${a}/action`, { action: 'stop' })).status).toBe(200)
    expect((await console.page('DELETE', `${PODS}/${b}`)).status).toBe(204)
    expect(await flood()).toBe(0)
    expect((await console.page('DELETE', `${KEYS}/${stolen.id}`)).status).toBe(204)
    expect((await thief.delete(`${PODS}/${a}`)).status).toBe(401)
    await setQuota(account.userId, { exempt: true })
    expect(await scene.get(a)).toMatchObject({ id: a })
    scene.leave()
  })

  it('[CAP-3] is not used by refused ends, by documents that do more, or by actions that start', async () => {
    const scene = await podScene(gpus(1))
    const { account } = scene
    const { id } = await scene.create()
    await useUp(account, 10)
    const client = api(account.key)
    const terminate = `podTerminate(input: {podId: "${id}"})`
    for (let n = 0; n < 3; n += 1) {
      expect((await client.delete(`${PODS}/${id}?dryRun=true`)).status).toBe(429)
      expect((await client.post(`${PODS}/${id}/action`, { action: 'start' })).status).toBe(429)
      expect((await client.post(`${PODS}/${id}/action`, 'no json')).status).toBe(429)
      expect((await graphql(account.key)('{ myself { id } }')).status).toBe(429)
      expect((await graphql(account.key)(`mutation { ${terminate} secretCreate(input: {name: "x", value: "y"}) { id } }`)).status).toBe(429)
      expect((await graphql(account.key)(`mutation { ...f } fragment f on Mutation { ${terminate} }`)).status).toBe(429)
      expect((await graphql(account.key)('mutation {')).status).toBe(429)
    }
    const many = Array.from({ length: 7 }, (_, at) => `m${at}: podTerminate(input: {podId: "nosuch${at}"})`).join(' ')
    const { body } = await graphql(account.key)(`mutation { ${many} }`)
    const refused = body.errors.filter(({ message }: { message: string }) => message.includes('rate limit exceeded'))
    expect(refused, JSON.stringify(body)).toHaveLength(2)
    expect((await client.delete(`${PODS}/${id}`)).status).toBe(429)
    scene.leave()
  })

  it('[CAP-3] is as large as a tenth of a minute, five at least, and full again in the next minute', async () => {
    const noon = Date.UTC(2030, 0, 1, 12)
    for (const [minute, reserve] of [
      [10, 5],
      [60, 6],
      [1000, 100],
    ] as const) {
      const stub = rateLimiterStub(env, crypto.randomUUID())
      const end = async (nowMs: number) => (await stub.take(minute, 1, 1, nowMs, true))[1]
      const served = async (nowMs: number) => {
        let count = 0
        while ((await end(nowMs)) === 1) count += 1
        return count
      }
      expect((await stub.take(minute, 1, 1, noon))[1]).toBe(1)
      expect(await served(noon), String(minute)).toBe(reserve)
      expect((await stub.take(minute, 1, 1, noon))[1]).toBe(0)
      expect(await served(noon + 59_999)).toBe(0)
      expect(await served(noon + MINUTE_MS)).toBe(reserve)
    }
  })
})

/** Names of operations that end something. */
const ENDS =
  /^(delete|remove|revoke|stop|terminate|cancel|purge|suspend|decline|end(?=[A-Z])|leave|sign-?out|pod(Stop|Terminate))|(Delete|Terminate|Revoke)$/
/** Mutations that this plane does not support and answers so. */
const UNSUPPORTED: readonly string[] = ['deleteFlashApp', 'deleteFlashEnvironment', 'removeModelFromRepo']

describe('every route', () => {
  it('[S15] [CAP-3] that ends something has the reserve, and no other has it', async () => {
    const account = await createAccount({ exempt: false })
    await useUp(account, 1000)
    const client = api(account.key)
    const words = DOCUMENTED.filter(
      ({ id, path }) => id !== 'actOnPod' && RESERVED_WORDS.some((word) => path === `/v2/${word}` || path.startsWith(`/v2/${word}/`)),
    )
    expect(words.length).toBeGreaterThan(90)
    for (const { method, path, id = '', body } of words) {
      const call = client[method as keyof typeof client]
      const to = path.replaceAll(/\{\w+\}/g, 'nosuch00000000')
      const hasReserve = method === 'delete' || ENDS.test(id) || id === 'listAccountKeys'
      expect((await call(to, body)).status !== 429, `${id} ${method} ${path}`).toBe(hasReserve)
    }
    for (const action of ['start', 'stop', 'restart', 'terminate']) {
      const { status } = await client.post(`${PODS}/nosuch00000000/action`, { action })
      expect(status !== 429, action).toBe(ENDS.test(action))
    }
  })

  it('[CAP-3] of API v1 and every mutation of GraphQL too', async () => {
    const account = await createAccount({ exempt: false })
    await useUp(account, 1000)
    for (const { method, path } of V1_ROUTES) {
      const { status } = await v1(account.key).call(method, path.replace(':id', 'nosuch00000000'), method === 'GET' ? undefined : {})
      expect(status !== 429, `${method} ${path}`).toBe(method === 'DELETE' || ENDS.test(path.split('/').at(-1) ?? ''))
    }
    const fields = Object.values(executableSchema().getMutationType()?.getFields() ?? {})
    const declared = fields.filter((field) => directiveOf(field, 'ends')).map(({ name }) => name)
    expect(declared).toEqual(fields.map(({ name }) => name).filter((name) => ENDS.test(name) && !UNSUPPORTED.includes(name)))
    expect(declared).toHaveLength(8)
  })
})
