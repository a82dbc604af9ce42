import { EndpointPlacementPreview } from '../../../src/contract/endpoints/placement-preview.ts'
import { WhyOptions } from '../../../src/contract/explain-options.ts'
import { dropExplanations } from '../../../src/effects/explain/memory.ts'
import { admin, afterEach, api, createAccount, describe, expect, it } from '../../support/harness.ts'
import { CLUSTERS, networked } from '../../support/hosts/cluster-scene.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, podBody } from '../../support/pods/pod-scene.ts'

const ENDPOINTS = '/v2/serverless'

let hosts: FakeHost[] = []
afterEach(() => {
  for (const host of hosts) host.leave()
  hosts = []
})

async function join(...given: Parameters<typeof FakeHost.join>): Promise<void> {
  hosts.push(await FakeHost.join(...given))
}

describe('[WHY-12] a dry run that finds no place', () => {
  it('of a pod has the nearest that succeeds, as the body to send; one that finds a place has none', async () => {
    await join(gpus(2), { dataCenterId: 'EU-CZ-1' })
    const { key } = await createAccount()
    const body = podBody({ gpu: { id: 'NVIDIA L4', count: 4 }, dataCenterIds: ['EU-CZ-1'], env: { A: 'b' } })
    const refused = (await api(key).post(`${PODS}?dryRun=true`, body)).body
    expect(WhyOptions.parse(refused.options)).toEqual(refused.options)
    expect(refused).toMatchObject({
      fits: false,
      options: [{ kind: 'GPU_COUNT', summary: 'take 2 GPUs', call: { method: 'POST', path: PODS } }],
    })
    const [{ call, priceDifference }] = refused.options
    expect(call.body).toEqual({ ...body, gpu: { id: 'NVIDIA L4', count: 2 } })
    expect(priceDifference).toBeCloseTo(-0.88, 9)
    expect((await api(key).post(`${PODS}?dryRun=true`, call.body)).body).toMatchObject({ fits: true, options: [] })
    expect((await api(key).post(call.path, call.body)).status).toBe(201)
  })

  it('[WHY-6] contains nothing that the account could not have', async () => {
    await join(gpus(2), { dataCenterId: 'EU-FR-1' })
    const account = await createAccount()
    const body = podBody({ gpu: { id: 'NVIDIA L4', count: 4 }, dataCenterIds: ['EU-FR-1'] })
    const options = async () => (await api(account.key).post(`${PODS}?dryRun=true`, body)).body.options
    expect(await options()).toHaveLength(1)
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { gpus: 4, pods: 1 })
    await api(account.key).post(PODS, { ...body, gpu: { id: 'NVIDIA L4', count: 1 } })
    expect((await api(account.key).post(`${PODS}?dryRun=true`, body)).status).toBe(400)
  })

  it('[DRY-18] of an endpoint: the place and the cost of a worker, or the missing capacity and what would fit; nothing is made', async () => {
    await join(gpus(2), { dataCenterId: 'EU-SE-1' })
    dropExplanations()
    const { key } = await createAccount()
    const ask = async (body: object) => (await api(key).post(`${ENDPOINTS}?dryRun=true`, body)).body
    const gpu = { pools: ['AMPERE_24'], count: 4, allowedCudaVersions: ['12.8'] }
    const body = { name: 'captions', image: 'acme/worker:1', gpu, dataCenterIds: ['EU-SE-1'], workers: { min: 1, max: 3 } }
    const refused = await ask(body)
    expect(EndpointPlacementPreview.strict().parse(refused)).toEqual(refused)
    expect(refused).toMatchObject({ fits: false, dataCenterId: null, missing: expect.arrayContaining(['needs 4 free NVIDIA L4']) })
    expect(refused.costAtMost).toBeCloseTo(3 * refused.cost, 9)
    const fewer = refused.options.find(({ kind }: { kind: string }) => kind === 'GPU_COUNT')
    expect(fewer.call).toEqual({ method: 'POST', path: ENDPOINTS, body: { ...body, gpu: { ...gpu, count: 2 } } })
    expect(await ask(fewer.call.body)).toMatchObject({ fits: true, dataCenterId: 'EU-SE-1', missing: [], options: [] })
    expect(await ask({ ...body, networkVolumes: ['nothere'] })).toMatchObject({ status: 400 })
    expect((await api(key).get(ENDPOINTS)).body.endpoints).toEqual([])
    expect((await api(key).post(ENDPOINTS, fewer.call.body)).status).toBe(201)
  })

  it('[DRY-18, WHY-6] of an endpoint whose worker the account could not have has that reason, and offers nothing', async () => {
    await join(gpus(2), { dataCenterId: 'EU-RO-1' })
    dropExplanations()
    const account = await createAccount()
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { gpus: 1 })
    const body = { name: 'captions', image: 'acme/worker:1', gpu: { pools: ['AMPERE_24'], count: 2 }, dataCenterIds: ['EU-RO-1'] }
    expect((await api(account.key).post(`${ENDPOINTS}?dryRun=true`, body)).body).toMatchObject({
      fits: false,
      dataCenterId: 'EU-RO-1',
      missing: [expect.stringContaining('GPU')],
      options: [],
    })
  })

  it('of a cluster: as many members, or GPUs each, as there is room for', async () => {
    await join(networked('192.0.2.1', 4, 'NVIDIA RTX A5000'), { dataCenterId: 'EU-NL-1' })
    const { key } = await createAccount()
    const compute = { gpuTypeId: 'NVIDIA RTX A5000', gpuCountPerPod: 2, podCount: 4 }
    const body = { name: 'sft', type: 'TRAINING', image: 'acme/idle:1', compute, dataCenterIds: ['EU-NL-1'] }
    const refused = (await api(key).post(`${CLUSTERS}?dryRun=true`, body)).body
    expect(refused.fits).toBe(false)
    expect(refused.options.map(({ summary }: { summary: string }) => summary)).toEqual(['take 2 members', 'take 1 GPU'])
    for (const { call } of refused.options) {
      expect((await api(key).post(`${call.path}?dryRun=true`, call.body)).body).toMatchObject({ fits: true, options: [] })
    }
    expect((await api(key).post(CLUSTERS, refused.options[0].call.body)).status).toBe(201)
  })
})
