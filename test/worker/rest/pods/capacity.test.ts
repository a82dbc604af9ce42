import { api, createAccount, describe, env, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, GPU, gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { copyPod, insertPod, terminatePod } from '../../../support/pods/resources.ts'

const NO_CAPACITY = 'There are no longer any instances available with the requested specifications. Please refresh and try again.'

/** GPU types that only one test each uses, so that no other host counts. */
const RARE = 'NVIDIA RTX A2000'
const CUDA = 'NVIDIA A30'
const FLOORS = 'NVIDIA GeForce RTX 3070'
const CROWD = 'NVIDIA GeForce RTX 3080'
const VOLUMES = 'NVIDIA GeForce RTX 3090 Ti'
const DRY = 'NVIDIA GeForce RTX 4080'

describe('capacity', () => {
  it('[POD-9] [ERR-7] [POD-35] no room: the text that clients match, and the number of hosts that failed each constraint', async () => {
    const scene = await podScene(gpus(2, RARE))
    const reply = await scene.call.post(PODS, podBody({ gpu: { id: RARE, count: 3 } }))
    expect(reply).toMatchObject({ status: 400, body: { title: 'Bad Request', status: 400, detail: NO_CAPACITY, code: 'NO_CAPACITY' } })
    expect(reply.body.errors[0]).toMatch(/^needs \d+ free NVIDIA RTX A2000: fails on \d+ of \d+ hosts$/)
    expect(JSON.stringify(reply.body)).not.toContain(scene.host.id)
    expect((await scene.call.get(PODS)).body.pods).toEqual([])
    scene.leave()
  })

  it('[POD-7] [POD-9] a CUDA version that no host reports is a matter of capacity', async () => {
    const scene = await podScene(gpus(2, CUDA, '12.2'))
    const create = (gpu: object) => scene.call.post(PODS, podBody({ gpu: { id: CUDA, ...gpu } }))
    expect(await create({ allowedCudaVersions: ['99.9'] })).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    // 12.11 is above 12.2.
    expect(await create({ minCudaVersion: '12.11' })).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    expect(await create({ minCudaVersion: '12.1' })).toMatchObject({ status: 201 })
    expect(await create({ allowedCudaVersions: ['12.2'] })).toMatchObject({ status: 201 })
    scene.leave()
  })

  it('[POD-7] minRamPerGpu and minVcpuCountPerGpu filter hosts and are not returned', async () => {
    const scene = await podScene({ ...gpus(2, FLOORS), vcpus: 16, memoryMb: 65_536 })
    const create = (gpu: object) => scene.call.post(PODS, podBody({ gpu: { id: FLOORS, ...gpu } }))
    expect(await create({ minVcpuCountPerGpu: 9 })).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    expect(await create({ minRamPerGpu: 33 })).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    const reply = await create({ minVcpuCountPerGpu: 8, minRamPerGpu: 32 })
    expect(reply.body.gpu).toEqual({ id: FLOORS, count: 1, vcpuCount: 8, memory: 32 })
    scene.leave()
  })

  it('[POD-36] a volume of a data center where no host offers volumes: that is the reason', async () => {
    const bare = await FakeHost.join({ ...gpus(1, VOLUMES), sharedVolumes: ['global'] }, { dataCenterId: 'EU-CZ-1' })
    const call = api((await createAccount()).key)
    const { id } = (await call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-CZ-1' })).body
    const refused = await call.post(PODS, podBody({ gpu: { id: VOLUMES }, mounts: { network: [{ volumeId: id, path: '/data' }] } }))
    const detail = 'No host in EU-CZ-1 offers network volumes. Ask the operator to set them up there, or create the pod without that mount.'
    expect(refused).toMatchObject({ status: 400, body: { detail, code: 'NO_CAPACITY' } })
    expect(refused.body.errors).toContainEqual(expect.stringMatching(/^needs a host with network volumes: fails on \d+ of \d+ hosts$/))
    expect((await call.get(PODS)).body.pods).toEqual([])
    bare.leave()
  })

  it('[HOST-54] a pod with a network volume goes to a host that offers them, and is refused where none does', async () => {
    const bare = await podScene({ ...gpus(1, VOLUMES), sharedVolumes: [] })
    const { id } = (await bare.call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'LOCAL-1' })).body
    const body = podBody({ gpu: { id: VOLUMES }, mounts: { network: [{ volumeId: id, path: '/data' }] } })
    const refused = await bare.call.post(PODS, body)
    expect(refused).toMatchObject({ status: 400, body: { detail: NO_CAPACITY, code: 'NO_CAPACITY' } })
    expect(refused.body.errors).toContainEqual(expect.stringMatching(/^needs a host with network volumes: fails on \d+ of \d+ hosts$/))
    expect(await freeGpus(bare.host.id)).toBe(1)
    const fitting = await podScene({ ...gpus(1, VOLUMES), sharedVolumes: ['network'] })
    expect(await bare.call.post(PODS, body)).toMatchObject({ status: 201 })
    expect(await freeGpus(fitting.host.id)).toBe(0)
    bare.leave()
    fitting.leave()
  })

  it('[POD-9] [POD-10] 60 simultaneous creates for 12 GPUs on two hosts: 12 pods, and never a GPU below zero', async () => {
    const scenes = await Promise.all([podScene(gpus(8, CROWD)), podScene(gpus(4, CROWD))])
    const { key } = await createAccount()
    const replies = await Promise.all(Array.from({ length: 60 }, () => api(key).post(PODS, podBody({ gpu: { id: CROWD } }))))
    const created = replies.filter(({ status }) => status === 201)
    expect(created).toHaveLength(12)
    expect(replies.filter(({ status, body }) => status === 400 && body.code === 'NO_CAPACITY')).toHaveLength(48)
    for (const scene of scenes) expect(await freeGpus(scene.host.id)).toBe(0)
    const ids = new Set(created.map(({ body }) => body.id))
    expect(ids.size).toBe(12)
    const listed = (await api(key).get(PODS)).body.pods
    expect(new Set(listed.map(({ id }: { id: string }) => id))).toEqual(ids)
    const held = await env.DB.prepare('SELECT host_id AS host, SUM(gpu_count) AS n FROM allocations WHERE gpu_type_id = ? GROUP BY host_id')
      .bind(CROWD)
      .all<{ host: string; n: number }>()
    const mine = held.results.filter(({ host }) => scenes.some((scene) => scene.host.id === host))
    expect(mine.map(({ n }) => n).sort()).toEqual([4, 8])
    for (const scene of scenes) scene.leave()
  }, 600_000)

  it('[POD-8] [POD-19] a CPU pod takes vCPUs and the memory of its flavor', async () => {
    const scene = await podScene()
    const pod = await scene.create(cpuPodBody({ cpu: { id: 'cpu3g', vcpuCount: 4, memory: 16 }, disk: 40 }))
    expect(pod.cpu).toEqual({ id: 'cpu3g', vcpuCount: 4, memory: 16 })
    expect(pod).not.toHaveProperty('gpu')
    expect(pod).toMatchObject({ cost: 0.16, cudaVersion: null })
    scene.leave()
  })
})

it('[BUDGET-5] an account with 500 stopped pods makes no further one, and can still stop its pods', async () => {
  const scene = await podScene(gpus(2))
  const { id } = await scene.create()
  await scene.run(id)
  const stopped = await insertPod(await scene.team(), { status: 'EXITED' })
  await copyPod(stopped, 498)
  const last = await scene.create()
  await copyPod(stopped, 1)
  const refusal = {
    status: 400,
    body: {
      code: 'RULE',
      detail: expect.stringMatching(/budget stoppedPods .* is 500: 500 are in use and the request needs 1 more; terminate one/),
    },
  }
  expect(await scene.call.post(PODS, podBody())).toMatchObject(refusal)
  expect(await scene.call.post(`${PODS}?dryRun=true`, podBody())).toMatchObject(refusal)
  expect((await scene.act(id, 'stop')).status).toBe(200)
  for (const each of [id, last.id]) await scene.end(each)
  await terminatePod(stopped)
  expect((await scene.call.post(PODS, podBody())).status).toBe(201)
  scene.leave()
})

describe('dryRun', () => {
  it('[POD-37] [POD-51] names the host and the price, and reserves nothing', async () => {
    const scene = await podScene(gpus(4, DRY))
    const path = `${PODS}?dryRun=true`
    const reply = await scene.call.post(path, podBody({ gpu: { id: DRY, count: 2 } }))
    expect(reply).toMatchObject({ status: 200, body: { fits: true, dataCenterId: 'LOCAL-1', gpu: { id: DRY, count: 2 }, cost: 0 } })
    expect(reply.body.hostId).toMatch(/^host_[A-Za-z0-9_-]{16}$/)
    expect(reply.body.hosts[0]).toEqual({ hostId: reply.body.hostId, failed: [] })
    expect(await freeGpus(scene.host.id)).toBe(4)
    expect((await scene.call.get(PODS)).body.pods).toEqual([])

    // POD-51: 5 times 0.69 is 3.4499999999999997 in floating point.
    const priced = await scene.call.post(path, podBody({ gpu: { id: 'NVIDIA GeForce RTX 4090', count: 5 } }))
    expect(priced.body.cost).toBe(3.45)

    const refused = await scene.call.post(path, podBody({ gpu: { id: DRY, count: 5 } }))
    expect(refused).toMatchObject({ status: 200, body: { fits: false, hostId: null, dataCenterId: null } })
    const mine = refused.body.hosts.find(({ hostId }: { hostId: string }) => hostId === reply.body.hostId)
    expect(mine.failed).toContain(`needs 5 free ${DRY}`)
    expect(JSON.stringify(refused.body)).not.toContain(scene.host.id)
    scene.leave()
  })

  it('[REST-31] is set by true and 1 in any case, and by nothing else', async () => {
    const scene = await podScene(gpus(1, DRY))
    const post = (query: string) => scene.call.post(`${PODS}${query}`, podBody({ gpu: { id: DRY } }))
    for (const form of ['true', 'True', 'TRUE', '1']) expect((await post(`?dryRun=${form}`)).status, form).toBe(200)
    for (const form of ['yes', '', 'on', '2']) {
      expect((await post(`?dryRun=${form}`)).body.errors, form).toEqual(["$.dryRun: value must be one of 'true', '1', 'false', '0'"])
    }
    expect((await scene.call.get(PODS)).body.pods).toEqual([])
    for (const form of ['False', '0']) expect((await post(`?dryRun=${form}`)).status, form).not.toBe(200)
    scene.leave()
  })

  it('[POD-37] refuses when the create would be refused', async () => {
    const scene = await podScene(gpus(1))
    const path = `${PODS}?dryRun=true`
    expect((await scene.call.post(path, podBody({ gpu: { id: 'No Such GPU' } }))).body.detail).toBe('invalid GPU type id "No Such GPU"')
    expect((await scene.call.post(path, podBody({ name: '' }))).status).toBe(422)
    expect((await scene.call.post(`${PODS}?dryRun=false`, podBody({ gpu: { id: GPU } }))).status).toBe(201)
    scene.leave()
  })
})
