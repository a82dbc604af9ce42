import { api, createAccount, describe, env, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, GPU, gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podBody, podScene } from '../../../support/pods/pod-scene.ts'

describe('a pod over REST', () => {
  it('[POD-2] [CON-5] is created PROVISIONING with every member, runs, and is terminated', async () => {
    const scene = await podScene()
    const reply = await scene.call.post(PODS, {
      name: 'pytorch-training',
      image: 'acme/idle:1',
      gpu: { id: GPU },
      disk: 50,
      ports: ['8888/http', '22/tcp'],
      env: { MODEL_NAME: 'llama-3' },
      mounts: { persistent: { size: 20, path: '/workspace' } },
    })
    expect(reply.status).toBe(201)
    expect(reply.headers.get('etag')).toBe('"1"')
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{14}$/),
      name: 'pytorch-training',
      image: 'acme/idle:1',
      args: '',
      cmd: [],
      entrypoint: [],
      disk: 50,
      ports: ['8888/http', '22/tcp'],
      env: { MODEL_NAME: 'llama-3' },
      registry: null,
      status: 'PROVISIONING',
      statusReason: null,
      actions: ['stop', 'terminate'],
      mounts: { persistent: { size: 20, path: '/workspace' } },
      gpu: { id: GPU, count: 1, vcpuCount: expect.any(Number), memory: expect.any(Number) },
      cloud: 'SECURE',
      dataCenterId: 'LOCAL-1',
      cudaVersion: '12.8',
      ssh: { proxy: null, direct: null },
      template: null,
      cost: 0.44,
      locked: false,
      globalNetworking: { enabled: false },
      onHostLoss: 'WAIT',
      runtime: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      startedAt: null,
      stopAfter: null,
      terminateAfter: null,
      idleStop: null,
      labels: {},
    })
    const { id } = reply.body
    await scene.run(id, 1, [
      { private: 8888, public: 30888, type: 'http' },
      { private: 22, public: 30022, type: 'tcp' },
    ])
    const running = await scene.get(id)
    expect(running).toMatchObject({
      status: 'RUNNING',
      actions: ['stop', 'restart', 'terminate'],
      runtime: { uptime: expect.any(Number), ports: [{ private: 8888 }, { private: 22, public: 30022, ip: null }] },
      startedAt: expect.any(String),
    })
    expect((await scene.call.delete(`${PODS}/${id}`)).status).toBe(204)
    expect((await scene.call.get(`${PODS}/${id}`)).body).toMatchObject({ status: 404, detail: 'pod not found' })
    expect((await scene.call.get(PODS)).body).toEqual({ pods: [], pagination: { nextCursor: null, hasNextPage: false } })
    scene.leave()
  })

  it('[POD-18] DELETE wipes the persistent mount and releases volumes', async () => {
    const scene = await podScene(gpus(2))
    const volume = (await scene.call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'LOCAL-1' })).body.id
    const [own, shared] = [
      await scene.create({ mounts: { persistent: { size: 10, path: '/a' } } }),
      await scene.create({ mounts: { network: [{ volumeId: volume, path: '/v' }] } }),
    ]
    for (const { id } of [own, shared]) {
      const workload = await scene.host.waitFor((one) => one.id === `${id}-1`)
      expect(workload.mounts).toHaveLength(1)
    }
    expect((await scene.call.delete(`/v2/network-volumes/${volume}`)).status).toBe(400)
    for (const { id } of [own, shared]) {
      expect(await scene.call.delete(`${PODS}/${id}`)).toMatchObject({ status: 204, body: null })
      await scene.host.waitFor((one) => one.id === `${id}-1` && one.desired === 'stopped' && one.wipe === true)
      expect((await scene.call.delete(`${PODS}/${id}`)).status).toBe(404)
    }
    expect((await scene.call.delete(`/v2/network-volumes/${volume}`)).status).toBe(204)
    scene.leave()
  })

  it('[POD-3] [POD-9] the cloud and the order of data centers decide the host of a pod', async () => {
    const type = 'NVIDIA RTX A4500'
    const [here, there, cheap] = [
      await FakeHost.join(gpus(2, type), { dataCenterId: 'EU-RO-1' }),
      await FakeHost.join(gpus(2, type), { dataCenterId: 'US-KS-2' }),
      await FakeHost.join(gpus(2, type), { dataCenterId: 'US-KS-2', cloud: 'COMMUNITY' }),
    ]
    const { key } = await createAccount()
    const create = async (changes: object) => (await api(key).post(PODS, podBody({ gpu: { id: type }, ...changes }))).body
    expect(await create({ dataCenterIds: ['US-KS-2', 'EU-RO-1'] })).toMatchObject({ dataCenterId: 'US-KS-2', cloud: 'SECURE', cost: 0.25 })
    expect(await create({ dataCenterIds: ['EU-RO-1', 'US-KS-2'] })).toMatchObject({ dataCenterId: 'EU-RO-1' })
    expect(await create({ cloud: 'COMMUNITY' })).toMatchObject({ dataCenterId: 'US-KS-2', cloud: 'COMMUNITY', cost: 0.19 })
    expect(await create({ cloud: 'COMMUNITY', dataCenterIds: ['EU-RO-1'] })).toMatchObject({ code: 'NO_CAPACITY' })
    for (const host of [here, there, cheap]) host.leave()
  })

  it('[POD-14] stop, start and restart return the pod, terminate returns no body', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const stopped = await scene.act(id, 'stop')
    expect(stopped).toMatchObject({ status: 200, body: { status: 'EXITED', cost: 0, startedAt: null, runtime: null, cudaVersion: '12.8' } })
    await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
    expect(await freeGpus(scene.host.id)).toBe(1)
    expect(await scene.act(id, 'restart')).toMatchObject({
      status: 409,
      body: { title: 'Conflict', detail: 'action restart is not valid while the pod is EXITED' },
    })
    expect(await scene.act(id, 'start')).toMatchObject({ status: 200, body: { status: 'STARTING', actions: ['stop', 'terminate'] } })
    await scene.run(id, 2)
    expect(await scene.act(id, 'restart')).toMatchObject({ status: 200, body: { status: 'STARTING' } })
    await scene.run(id, 3)
    const terminated = await scene.act(id, 'terminate')
    expect(terminated).toMatchObject({ status: 204, body: null })
    expect((await scene.act(id, 'start')).status).toBe(404)
    const usage = await env.DB.prepare('SELECT COUNT(*) AS n FROM usage WHERE workload_id = ?').bind(id).first<{ n: number }>()
    expect(usage?.n).toBe(3)
    scene.leave()
  })
})
