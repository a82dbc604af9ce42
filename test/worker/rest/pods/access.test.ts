import { UpdatePodRequest } from '../../../../src/contract/pods/pods.ts'
import { readSettings } from '../../../../src/env.ts'
import { api, createAccount, createKey, describe, env, expect, it, send } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { graphql } from '../../../support/http/graphql.ts'
import { LogReader } from '../../../support/http/log-reader.ts'
import { v1 } from '../../../support/http/v1.ts'
import { PODS, podBody, podScene, setPod } from '../../../support/pods/pod-scene.ts'

describe('other accounts', () => {
  it('[AUT-5] [POD-12] a pod of another account is 404 for every call, as an unknown one is, and is not changed', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    const otherTenant = api((await createAccount()).key)
    for (const pod of [id, 'nosuchpod0000a', '%2e%2e', 'a'.repeat(2_000)]) {
      const replies = [
        await otherTenant.get(`${PODS}/${pod}`),
        await otherTenant.get(`${PODS}/${pod}?waitFor=RUNNING`),
        await otherTenant.patch(`${PODS}/${pod}`, { name: 'mine' }),
        await otherTenant.post(`${PODS}/${pod}/action`, { action: 'stop' }),
        await otherTenant.post(`${PODS}/${pod}/action`, { action: 'terminate' }),
        await otherTenant.delete(`${PODS}/${pod}`),
      ]
      for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { title: 'Not Found', status: 404 } })
    }
    expect((await otherTenant.get(PODS)).body.pods).toEqual([])
    expect(await scene.get(id)).toMatchObject({ name: 'p', status: 'PROVISIONING' })
    scene.leave()
  })

  it('[AUT-3] [AUT-5] a key without the scope is 403 before anything is read', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    const keyWith = async (scope: string) => api((await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes: [scope] })).key)
    const [reader, writer, other] = [await keyWith('pods:read'), await keyWith('pods:write'), await keyWith('serverless:read')]
    expect((await reader.get(PODS)).status).toBe(200)
    expect((await reader.get(`${PODS}/${id}`)).status).toBe(200)
    expect((await reader.patch(`${PODS}/${id}`, { name: 1 })).status).toBe(403)
    expect((await reader.post(PODS, {})).status).toBe(403)
    expect((await reader.post(`${PODS}/${id}/action`, {})).status).toBe(403)
    expect((await reader.delete(`${PODS}/${id}`)).status).toBe(403)
    expect((await writer.get(PODS)).status).toBe(403)
    expect((await writer.patch(`${PODS}/${id}`, { name: 'x' })).status).toBe(200)
    expect((await other.get(PODS)).status).toBe(403)
    expect((await api(null).get(PODS)).status).toBe(401)
    expect((await scene.call.put(PODS, {})).status).toBe(405)
    scene.leave()
  })
})

describe('the key of a pod', () => {
  it('[AUT-6] [ENV-20] [S1] reads and stops its own pod and nothing else, and ends with it', async () => {
    const scene = await podScene(gpus(3))
    const [mine, other] = [await scene.create(), await scene.create()]
    const workload = await scene.host.waitFor(({ id }) => id === `${mine.id}-1`)
    const pod = api(workload.platformEnv.RUNPOD_API_KEY ?? '')
    expect((await pod.get(`${PODS}/${mine.id}`)).body).toMatchObject({ id: mine.id })
    const log = await LogReader.open(workload.platformEnv.RUNPOD_API_KEY ?? '', `${PODS}/${mine.id}/logs`)
    await log.close()
    for (const reply of [
      await pod.get(PODS),
      await pod.get(`${PODS}/${other.id}/logs`),
      await pod.post(PODS, podBody()),
      await pod.get(`${PODS}/${other.id}`),
      await pod.delete(`${PODS}/${other.id}`),
      await pod.get('/v2/serverless'),
      await pod.get('/v2/account/ssh-keys'),
      await pod.get('/v2/registries'),
      await pod.post('/v2/account/ssh-keys', {}),
    ]) {
      expect([403, 405]).toContain(reply.status)
    }
    const endpoint = (await scene.call.post('/v2/serverless', { name: 'e', image: 'builtin/echo', gpu: { pools: ['ADA_24'] } })).body.id
    expect((await pod.post(`/v2/${endpoint}/run`, { input: {} })).status).toBeGreaterThanOrEqual(400)
    expect((await pod.post(`${PODS}/${mine.id}/action`, { action: 'stop' })).body.status).toMatch(/EXITED|STOPPING/)
    expect((await pod.post(`${PODS}/${mine.id}/action`, { action: 'terminate' })).status).toBe(204)
    expect(await pod.get(`${PODS}/${mine.id}`)).toMatchObject({ status: 401, body: { detail: 'invalid bearer token' } })
    scene.leave()
  })

  // Every documented member of a PATCH, over each interface that has it.
  const CHANGES: Readonly<Record<string, unknown>> = {
    ...{ name: 'from inside', image: 'evil.example.com/x', registry: 'r', templateId: 't', env: { STOLEN: '{{ RUNPOD_SECRET_TOPA }}' } },
    ...{ cmd: ['sh'], entrypoint: ['sh'], args: 'sh', disk: 500, ports: ['9/tcp'], mounts: {}, globalNetworking: true, locked: true },
    ...{ stopAfter: null, terminateAfter: null, idleStop: null, gpu: { count: 2 }, onHostLoss: 'MOVE', labels: null },
  }
  it('[S1] [CAP-30] changes no member of its pod, over REST, API v1 and GraphQL', async () => {
    const known = Object.keys(UpdatePodRequest.shape)
    expect(known.filter((name) => !(name in CHANGES))).toEqual([])
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const key = (await scene.host.waitFor((workload) => workload.id === `${id}-1`)).platformEnv.RUNPOD_API_KEY ?? ''
    const [pod, old, before] = [api(key), v1(key), await scene.get(id)]
    const refused = { status: 403, body: { errors: ['the key lacks the scope pods:write'] } }
    for (const name of known) {
      const change = { [name]: CHANGES[name] }
      expect(await pod.patch(`${PODS}/${id}`, change), name).toMatchObject(refused)
      expect(await pod.patch(`${PODS}/${id}?dryRun=true`, change), name).toMatchObject(refused)
      expect((await old.patch(`/pods/${id}`, change)).status, name).toBe(403)
      expect((await old.post(`/pods/${id}/update`, change)).status, name).toBe(403)
    }
    for (const action of ['start', 'reset']) expect((await old.post(`/pods/${id}/${action}`)).status, action).toBe(403)
    expect(await pod.post(`${PODS}/${id}/action`, { action: 'start' })).toMatchObject(refused)
    expect(await pod.get(`${PODS}/${id}/exec`)).toMatchObject(refused)
    for (const mutation of [
      `podEditJob(input: {podId: "${id}", env: [{key: "A", value: "{{ RUNPOD_SECRET_TOPA }}"}]}) { id }`,
      `podResume(input: {podId: "${id}", gpuCount: 1}) { id }`,
      `podBidResume(input: {podId: "${id}", gpuCount: 1, bidPerGpu: 1}) { id }`,
    ]) {
      const { body } = await graphql(key)(`mutation { ${mutation} }`)
      expect(body.errors[0].message, mutation).toMatch(/^access denied/)
    }
    expect(await scene.get(id)).toEqual(before)
    expect((await old.post(`/pods/${id}/stop`)).status).toBe(200)
    scene.leave()
  })

  it('[AUT-6] cannot be invented: another pod id under the same digest, or another digest, is 401', async () => {
    const scene = await podScene(gpus(2))
    const [a, b] = [await scene.create(), await scene.create()]
    const key = (await scene.host.waitFor(({ id }) => id === `${a.id}-1`)).platformEnv.RUNPOD_API_KEY ?? ''
    for (const forged of [
      key.replace(a.id, b.id),
      `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
      `ppd_${a.id}_`,
      'ppd_x_y',
      `${key}x`,
    ]) {
      expect((await api(forged).get(`${PODS}/${a.id}`)).status, forged).toBe(401)
    }
    scene.leave()
  })
})

describe('addresses of a pod', () => {
  const PORTS = [
    { private: 22, public: 30_022, type: 'tcp' },
    { private: 8888, public: 30_888, type: 'http' },
  ]

  it('[NET-2] [POD-21] ssh.direct needs 22/tcp, a running pod, its mapping and a public address', async () => {
    const scene = await podScene({ ...gpus(2, 'NVIDIA A30'), publicIp: '195.26.233.3' })
    const { id } = await scene.create({ gpu: { id: 'NVIDIA A30' }, ports: ['22/tcp', '8888/http'] })
    expect((await scene.get(id)).ssh.direct).toBeNull()
    await scene.run(id, 1, PORTS)
    const pod = await scene.get(id)
    expect(pod.ssh.direct).toEqual({ host: '195.26.233.3', port: 30_022, username: 'root', command: 'ssh root@195.26.233.3 -p 30022' })
    const [tcp, http] = pod.runtime.ports
    expect(tcp).toEqual({ ...PORTS[0], ip: '195.26.233.3' })
    expect(http).toMatchObject({ ...PORTS[1], ip: expect.stringMatching(/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d+\.\d+$/) })
    await scene.act(id, 'stop')
    expect((await scene.get(id)).ssh.direct).toBeNull()
    scene.leave()
  })

  it('[NET-2] ssh.proxy is set when the operator has one, -p only for another port than 22', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    expect((await scene.get(id)).ssh).toEqual({ proxy: null, direct: null })
    const settings = readSettings(env)
    try {
      settings.sshProxy = { host: 'ssh.example.com', port: 22 }
      const { proxy } = (await scene.get(id)).ssh
      expect(proxy).toMatchObject({ host: 'ssh.example.com', port: 22, command: `ssh ${proxy.username}@ssh.example.com` })
      expect(proxy.username).toMatch(new RegExp(`^${id}-[0-9a-f]{8}$`))
      settings.sshProxy.port = 2222
      expect((await scene.get(id)).ssh.proxy).toMatchObject({ port: 2222, command: `ssh ${proxy.username}@ssh.example.com -p 2222` })
    } finally {
      settings.sshProxy = null
    }
    scene.leave()
  })
})

describe('waitFor', () => {
  it('[POD-44] returns when the pod reaches the status, and is notified by the report of its host', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const [waited] = await Promise.all([scene.call.get(`${PODS}/${id}?waitFor=RUNNING`), scene.run(id)])
    expect(waited).toMatchObject({ status: 200, body: { status: 'RUNNING' } })
    expect(waited.headers.get('etag')).toMatch(/^"\d+"$/)
    scene.leave()
  })

  it('[POD-44] returns at once for a reached status, or one that cannot be reached without an action', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const at = async (waitFor: string) => (await scene.call.get(`${PODS}/${id}?waitFor=${waitFor}`)).body.status
    expect(await at('PROVISIONING')).toBe('PROVISIONING')
    expect(await at('TERMINATED')).toBe('PROVISIONING')
    await setPod(id, { status: 'EXITED' })
    expect(await at('RUNNING')).toBe('EXITED')
    expect((await scene.call.get(`${PODS}/${id}?waitFor=UP`)).body.errors[0]).toMatch(/^\$\.waitFor: value must be one of/)
    scene.leave()
  })

  it('[POD-44] ends with 404 when the pod is terminated, and with a reply when it fails instead', async () => {
    const scene = await podScene(gpus(2))
    const [ended, failed] = [await scene.create(), await scene.create()]
    const waits = [ended, failed].map(({ id }) => scene.call.get(`${PODS}/${id}?waitFor=RUNNING`))
    await scene.act(ended.id, 'terminate')
    await scene.host.waitFor(({ id }) => id === `${failed.id}-1`)
    await scene.host.report(`${failed.id}-1`, { state: 'error', reason: 'image pull failed: no such image' })
    const [gone, answer] = await Promise.all(waits)
    expect(gone?.status).toBe(404)
    expect(answer?.body).toMatchObject({
      status: 'ERROR',
      statusReason: 'image pull failed: no such image',
      cost: 0,
      actions: ['start', 'terminate'],
    })
    scene.leave()
  })

  it('[POD-44] a caller that leaves ends the wait', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const controller = new AbortController()
    const wait = send(`${PODS}/${id}?waitFor=RUNNING`, {
      headers: { Authorization: `Bearer ${scene.account.key}` },
      signal: controller.signal,
    })
    controller.abort()
    await expect(wait).rejects.toThrow()
    scene.leave()
  })
})
