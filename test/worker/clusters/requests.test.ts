import { admin, afterEach, api, createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene, clusterBody, networked, remainsOf } from '../../support/hosts/cluster-scene.ts'
import { freeGpus, GPU, gpus } from '../../support/hosts/gpus.ts'

const scenes: ClusterScene[] = []
async function open(...args: Parameters<typeof ClusterScene.open>): Promise<ClusterScene> {
  const scene = await ClusterScene.open(...args)
  scenes.push(scene)
  return scene
}
afterEach(() => {
  for (const scene of scenes.splice(0)) scene.leave()
})
const compute = (podCount: number, gpuCountPerPod = 1, gpuTypeId = GPU) => ({ gpuTypeId, gpuCountPerPod, podCount })

describe('the create of a cluster', () => {
  it('[CLU-2] [CLU-6] [CLU-7] [CLU-11] refuses with the status that the contract gives', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const template = (await call.post('/v2/templates', { name: crypto.randomUUID(), image: 'acme/t:1' })).body.id
    const serverless = (await call.post('/v2/templates', { name: crypto.randomUUID(), image: 'acme/t:1', serverless: true })).body.id
    const bare = { name: 'c', type: 'TRAINING', compute: compute(2) }
    const refused: [Record<string, unknown>, number, string][] = [
      [clusterBody({ compute: compute(1) }), 422, 'podCount'],
      [clusterBody({ compute: compute(251) }), 422, 'podCount'],
      [clusterBody({ compute: compute(2, 1, 'NVIDIA Nothing') }), 400, 'invalid GPU type id \\"NVIDIA Nothing\\"'],
      [clusterBody({ compute: compute(2, 1, 'L4') }), 400, '$.compute.gpuTypeId: did you mean \\"NVIDIA L4\\"'],
      [clusterBody({ compute: compute(2, 99) }), 400, 'gpu.count 99'],
      [clusterBody({ type: 'MPI' }), 422, 'type'],
      [clusterBody({ registry: 'r' }), 400, 'registry'],
      [clusterBody({ registry: null, name: 7 }), 400, 'registry'],
      [clusterBody({ mounts: { global: [{ volumeId: 'v' }] } }), 422, 'global'],
      [clusterBody({ mounts: { persistent: { size: 20, path: '/w' }, network: [{ volumeId: 'v', path: '/d' }] } }), 400, 'exclude'],
      [clusterBody({ mounts: { persistent: { size: 20, path: '/w' } }, onHostLoss: 'REPLACE' }), 400, 'onHostLoss REPLACE'],
      [clusterBody({ mounts: { network: [{ volumeId: 'nothing', path: '/d' }] } }), 400, 'network volume nothing not found'],
      [clusterBody({ dataCenterIds: ['NOWHERE-9'] }), 400, 'data center NOWHERE-9 not found'],
      [bare, 400, 'image is required'],
      [{ ...bare, templateId: template, env: {} }, 400, 'templateId excludes env'],
      [{ ...bare, templateId: template, image: 'a/b', disk: 5 }, 400, 'templateId excludes image, disk'],
      [{ ...bare, templateId: 'nothing' }, 404, 'not found'],
      [{ ...bare, templateId: serverless }, 422, ''],
    ]
    for (const [body, status, text] of refused) {
      const reply = await call.post(CLUSTERS, body)
      expect([JSON.stringify(body), reply.status]).toEqual([JSON.stringify(body), status])
      expect(JSON.stringify(reply.body)).toContain(text)
    }
    expect((await call.get(CLUSTERS)).body).toEqual({ clusters: [] })
  })

  it('[CLU-6] a template supplies its members, and the cluster keeps the link', async () => {
    const scene = await open(2)
    const template = await scene.call.post('/v2/templates', { name: crypto.randomUUID(), image: 'acme/t:1', env: { A: '1' }, disk: 12 })
    const body = { name: 't', type: 'RAY', compute: compute(2), templateId: template.body.id, dataCenterIds: [scene.dataCenterId] }
    const { status, body: cluster } = await scene.call.post(CLUSTERS, body)
    expect([status, cluster.template]).toEqual([201, template.body.id])
    const pods = await scene.pods(cluster.id)
    expect(pods.map(({ image, env: variables, disk, cluster: { role } }) => ({ image, variables, disk, role }))).toEqual([
      { image: 'acme/t:1', variables: { A: '1' }, disk: 12, role: 'RAY_HEAD' },
      { image: 'acme/t:1', variables: { A: '1' }, disk: 12, role: 'RAY_WORKER' },
    ])
  })

  it('[CLU-12] a dry run names the data center, the hosts and the price, or the missing capacity, and makes nothing', async () => {
    const scene = await open(2)
    const dry = (podCount: number) => scene.call.post(`${CLUSTERS}?dryRun=true`, scene.body({ compute: compute(podCount) }))
    expect((await dry(2)).body).toEqual({
      fits: true,
      dataCenterId: scene.dataCenterId,
      cost: 0.88,
      missing: [],
      hosts: [1, 2].map(() => ({ hostId: expect.any(String), members: 1, failed: [] })),
      options: [],
    })
    const missing = await dry(3)
    expect([missing.status, missing.body.fits, missing.body.missing[0]]).toEqual([
      200,
      false,
      `members: ${scene.dataCenterId} has room for 2 of 3, and all must be in one data center`,
    ])
    expect((await scene.call.get(CLUSTERS)).body).toEqual({ clusters: [] })
    expect(await Promise.all(scene.hosts.map(({ id }) => freeGpus(id)))).toEqual([1, 1])
  })

  it('[CLU-4] shows its network once members have met, and the address of rank 0 while it runs', async () => {
    const scene = await open(2, (index) => ({ ...networked(`192.0.2.${index + 1}`), publicIp: '203.0.113.9' }))
    const { id } = await scene.create({ compute: compute(2), ports: ['22/tcp'] })
    expect(Object.keys(await scene.get(id))).not.toContain('network')
    await scene.reach(id)
    for (const { host, workload } of await scene.members(id)) {
      await host.report(workload.id, { state: 'running', ports: [{ private: 22, public: 34_000, type: 'tcp' }] })
    }
    expect((await scene.get(id)).primary).toEqual({ podId: expect.any(String), status: 'RUNNING', sshEndpoint: '203.0.113.9:34000' })
  })

  it('[ENV-3] [ENV-10] [ENV-11] gives members their rank and address, and `env` does not change them', async () => {
    const scene = await open(2)
    const variables = { NODE_RANK: '7', NCCL_SOCKET_IFNAME: 'eth0', A: '1' }
    const { id } = await scene.create({ compute: compute(2), env: variables })
    const [, second] = await scene.members(id)
    const [first] = await scene.pods(id)
    expect(second?.workload.platformEnv).toMatchObject({ NODE_RANK: '1', NUM_NODES: '2', MASTER_ADDR: first.cluster.ip, WORLD_SIZE: '2' })
    expect(second?.workload.env).toMatchObject({ NCCL_SOCKET_IFNAME: 'eth0', GLOO_SOCKET_IFNAME: 'ens1', A: '1' })
    expect(second?.workload.overlays).toEqual([{ id, address: second?.workload.platformEnv.NODE_ADDR, interface: 'ens1' }])
  })

  it('[ENV-13] gives members of one SLURM cluster a common key that no other cluster has and no reply shows', async () => {
    const scene = await open(2, (index) => networked(`192.0.2.${index + 1}`, 2))
    const keysOf = async (id: string) =>
      (await scene.members(id)).map(({ workload }) => workload.files?.find(({ path }) => path === '/etc/munge/munge.key')?.content)
    const [one, two] = [
      await scene.create({ type: 'SLURM', compute: compute(2) }),
      await scene.create({ type: 'SLURM', compute: compute(2) }),
    ]
    const [mine, others] = [await keysOf(one.id), await keysOf(two.id)]
    expect(new Set(mine).size).toBe(1)
    expect(mine[0]).not.toBe(others[0])
    const seen = JSON.stringify([await scene.get(one.id), await scene.pods(one.id)])
    expect(seen).not.toContain(String(mine[0]))
  })
})

describe('all or nothing', () => {
  it('[CLU-8] [CLU-13] with room for all but one member nothing is reserved', async () => {
    const scene = await open(2)
    const reply = await scene.call.post(CLUSTERS, scene.body())
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'NO_CAPACITY', errors: expect.arrayContaining([expect.stringContaining('2 of 3')]) },
    })
    expect(await Promise.all(scene.hosts.map(({ id }) => freeGpus(id)))).toEqual([1, 1])
    const left = await env.DB.prepare("SELECT COUNT(*) AS n FROM pods WHERE data_center_id = ? AND status <> 'TERMINATED'")
      .bind(scene.dataCenterId)
      .first()
    expect(left).toEqual({ n: 0 })
  })

  it('[CLU-13] of 50 simultaneous creates for scarce GPUs as many succeed as fit, each complete, and no more', async () => {
    const scene = await open(3, (index) => networked(`192.0.2.${index + 1}`, 3))
    const replies = await Promise.all(Array.from({ length: 50 }, () => scene.call.post(CLUSTERS, scene.body({ compute: compute(2) }))))
    const made = replies.filter(({ status }) => status === 201).map(({ body }) => body.id)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 400]))
    // A host that was too busy to reply was skipped; its GPUs are available to the next create.
    for (let status = 201; status === 201; ) {
      const next = await scene.call.post(CLUSTERS, scene.body({ compute: compute(2) }))
      status = next.status
      if (status === 201) made.push(next.body.id)
    }
    expect(made).toHaveLength(4)
    expect(await Promise.all(made.map((id) => remainsOf(id)))).toEqual(
      made.map(() => ({ clusters: 1, overlays: 1, members: 2, allocations: 2 })),
    )
    const free = await Promise.all(scene.hosts.map(({ id }) => freeGpus(id)))
    expect(free.reduce((sum, one) => sum + one, 0)).toBe(1)
    const slots = await env.DB.prepare(`SELECT COUNT(DISTINCT slot) AS n FROM overlays WHERE owner_id IN (${made.map(() => '?').join()})`)
      .bind(...made)
      .first()
    expect(slots).toEqual({ n: 4 })
  }, 600_000)

  it('[CLU-13] the budgets of the account apply to a cluster as a whole', async () => {
    const scene = await open(3)
    const set = (bounds: Record<string, number>) => admin().put(`/admin/v1/users/${scene.account.userId}/budgets`, bounds)
    for (const [bounds, name] of [
      [{ clusters: 0 }, 'clusters'],
      [{ pods: 2 }, 'pods'],
      [{ gpus: 2 }, 'gpus'],
    ] as const) {
      await set(bounds)
      expect(await scene.call.post(CLUSTERS, scene.body())).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining(`budget ${name}`) },
      })
    }
    await set({})
    expect((await scene.call.post(CLUSTERS, scene.body())).status).toBe(201)
  })

  it('[CLU-15] hosts without private networks take no members', async () => {
    const scene = await open(3, () => gpus(1))
    expect((await scene.call.post(CLUSTERS, scene.body())).body.errors).toContainEqual(
      expect.stringContaining('needs a host with the private network between hosts'),
    )
  })
})
