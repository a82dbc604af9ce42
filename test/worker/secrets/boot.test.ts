import { api, createAccount, describe, env, expect, it, runInDurableObject, teamOf } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { LogReader } from '../../support/http/log-reader.ts'
import { PODS, type PodBody, type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { readLog } from '../../support/pods/pods.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const SECRETS = '/v2/account/secrets'
/** A GPU type that no host of another test has. */
const TYPE = 'NVIDIA A40'
const UNKNOWN_NOTE = 'env refers to secrets that the account does not have; each is replaced by an empty string: '

async function putSecret(key: string, name: string, value: string): Promise<void> {
  const [known] = (await api(key).get(`${SECRETS}?name=${name}`)).body.secrets
  const reply = known ? await api(key).patch(`${SECRETS}/${known.id}`, { value }) : await api(key).post(SECRETS, { name, value })
  expect([200, 201]).toContain(reply.status)
}

async function withScene(test: (scene: PodScene) => Promise<void>): Promise<void> {
  const scene = await podScene(gpus(4, TYPE))
  try {
    await test(scene)
  } finally {
    scene.leave()
  }
}

const create = (scene: PodScene, variables: Record<string, string>): Promise<PodBody> => scene.create({ gpu: { id: TYPE }, env: variables })
const workloadOf = ({ host }: PodScene, id: string, generation = 1) => host.waitFor((workload) => workload.id === `${id}-${generation}`)

describe('the env of a pod', () => {
  it('[ACC-6] gets its secrets when the container boots; the API shows their names', () =>
    withScene(async (scene) => {
      await putSecret(scene.account.key, 'DB', 'canary-1')
      const shown = { URL: 'postgres://ada:{{ RUNPOD_SECRET_DB }}@db', PLAIN: 'as it is' }
      const pod = await create(scene, shown)
      expect((await workloadOf(scene, pod.id)).env).toMatchObject({ URL: 'postgres://ada:canary-1@db', PLAIN: 'as it is' })
      expect(pod.env).toEqual(shown)
      expect((await scene.get(pod.id)).env).toEqual(shown)
      const rows = await env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(pod.id).all()
      expect(JSON.stringify(rows.results)).not.toContain('canary-1')
    }))

  it('[ACC-6] a rotation affects nothing that runs, and the next boot gets the new value', () =>
    withScene(async (scene) => {
      await putSecret(scene.account.key, 'DB', 'canary-1')
      const { id } = await create(scene, { URL: '{{ RUNPOD_SECRET_DB }}' })
      await scene.run(id)
      const revision = () => runInDurableObject(hostStub(env, scene.host.id), (host) => (host as unknown as HostInside).store.revision())
      const before = await revision()
      await putSecret(scene.account.key, 'DB', 'canary-2')
      // A synchronisation of the pod finds nothing to change.
      await runInDurableObject(hostStub(env, scene.host.id), (host) => host.syncPod(scene.host.id, id))
      expect(await revision()).toBe(before)
      expect((await workloadOf(scene, id)).env).toMatchObject({ URL: 'canary-1' })
      expect(await scene.get(id)).toMatchObject({ status: 'RUNNING' })
      expect((await scene.act(id, 'restart')).status).toBe(200)
      expect((await workloadOf(scene, id, 2)).env).toMatchObject({ URL: 'canary-2' })
    }))

  it('[ACC-6] a name that the account does not have is empty, also if another account has it, and is logged once', () =>
    withScene(async (scene) => {
      const theirs = await createAccount()
      await putSecret(theirs.key, 'THEIRS', 'canary-theirs')
      await putSecret(scene.account.key, 'MINE', 'canary-mine')
      const { id } = await create(scene, { A: '<{{RUNPOD_SECRET_THEIRS}}{{ RUNPOD_SECRET_NONE }}>', B: '{{RUNPOD_SECRET_MINE}}' })
      expect((await workloadOf(scene, id)).env).toMatchObject({ A: '<>', B: 'canary-mine' })
      await runInDurableObject(hostStub(env, scene.host.id), (host) => host.syncPod(scene.host.id, id))
      await scene.host.ship(await workloadOf(scene, id), ['hello'])
      const log = await readLog({ account: scene.account, id })
      expect(await log.lines(2)).toEqual([`${UNKNOWN_NOTE}THEIRS, NONE`, 'hello'])
      expect(await (await readLog({ account: scene.account, id }, '?source=system')).lines(1)).toEqual([`${UNKNOWN_NOTE}THEIRS, NONE`])
    }))

  it('[SECRET-6] a pod whose env has grown too large by its secrets is ERROR with the reason, delays nothing, and starts once it fits', () =>
    withScene(async (scene) => {
      await putSecret(scene.account.key, 'CERT', 'x'.repeat(131_070))
      const { id } = await create(scene, { CERT: '{{ RUNPOD_SECRET_CERT }}' })
      const failed = (await scene.call.get(`${PODS}/${id}?waitFor=ERROR`)).body
      const reason = 'env CERT is 131075 bytes with its secrets filled in; a program takes 131071'
      expect(failed).toMatchObject({ status: 'ERROR', statusReason: reason })
      const { gpus } = (await scene.call.get('/v2/account/limits')).body
      expect(gpus.used).toBe(0)
      const next = await create(scene, {})
      await workloadOf(scene, next.id)
      await putSecret(scene.account.key, 'CERT', 'x'.repeat(131_066))
      expect((await scene.act(id, 'start')).status).toBe(200)
      expect((await workloadOf(scene, id, 2)).env.CERT).toHaveLength(131_066)
    }))

  it('[SECRET-6] secrets count in the budget of bytes on one host', () =>
    withScene(async (scene) => {
      await putSecret(scene.account.key, 'BIG', 'x'.repeat(100_000))
      const first = await create(scene, { A: '{{ RUNPOD_SECRET_BIG }}' })
      await workloadOf(scene, first.id)
      await boundSpecs(scene, 200_000)
      const second = await create(scene, { A: '{{ RUNPOD_SECRET_BIG }}' })
      const failed = (await scene.call.get(`${PODS}/${second.id}?waitFor=ERROR`)).body
      expect(failed).toMatchObject({ status: 'ERROR', statusReason: expect.stringContaining('specBytesPerHost') })
      await scene.end(first.id)
      expect((await scene.act(second.id, 'start')).status).toBe(200)
      await workloadOf(scene, second.id, 2)
    }))
})

interface HostInside {
  store: { revision(): number }
}

async function boundSpecs({ account }: PodScene, specBytesPerHost: number): Promise<void> {
  const sql = 'INSERT INTO budgets (team_id, bounds, updated_at) VALUES (?, ?, 0)'
  await env.DB.prepare(sql)
    .bind(await teamOf(account), JSON.stringify({ specBytesPerHost }))
    .run()
}

describe('the env of a worker', () => {
  it('[ACC-6] gets its secrets when the worker starts; the next one gets the rotated ones', async () => {
    const variables = { TOKEN: '{{ RUNPOD_SECRET_T }}', NONE: '{{ RUNPOD_SECRET_NONE }}' }
    const queue = await setUpQueue({ env: variables, workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { key } = queue.account
    await putSecret(key, 'T', 'canary-1')
    await run(queue)
    const first = await queue.host.startWorker(queue.endpointId)
    const of = (id: string) => queue.host.waitFor((workload) => workload.id === id)
    expect((await of(first.id)).env).toEqual({ TOKEN: 'canary-1', NONE: '' })
    await putSecret(key, 'T', 'canary-2')
    expect((await api(key).get(`/v2/serverless/${queue.endpointId}`)).body.env).toEqual(variables)
    await first.take()
    await run(queue)
    const second = await queue.host.startWorker(queue.endpointId, [first.id])
    expect((await of(second.id)).env).toEqual({ TOKEN: 'canary-2', NONE: '' })
    expect((await of(first.id)).env).toEqual({ TOKEN: 'canary-1', NONE: '' })
    await queue.host.ship(await of(first.id), ['hello'])
    const log = await LogReader.open(key, `/v2/serverless/${queue.endpointId}/workers/${first.id}/logs`)
    expect(await log.lines(2)).toEqual([`${UNKNOWN_NOTE}NONE`, 'hello'])
  })

  it('[SECRET-6] a worker whose env is too large waits with the reason, and starts once it fits', async () => {
    const queue = await setUpQueue({ env: { CERT: '{{ RUNPOD_SECRET_CERT }}' } })
    const { key } = queue.account
    await putSecret(key, 'CERT', 'x'.repeat(140_000))
    const jobId = await run(queue)
    const reason = 'env CERT is 140005 bytes with its secrets filled in; a program takes 131071'
    await expect.poll(async () => JSON.stringify((await queue.get(`/explain/${jobId}`)).body), { timeout: 10_000 }).toContain(reason)
    const held = await env.DB.prepare('SELECT COUNT(*) AS n FROM allocations WHERE owner_id = ?').bind(queue.endpointId).first('n')
    expect(held).toBe(0)
    await putSecret(key, 'CERT', 'short')
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await queue.host.waitFor(({ id }) => id === worker.id)).env).toEqual({ CERT: 'short' })
  })
})
