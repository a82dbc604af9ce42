import { SEED_CATALOG } from '../../../../src/domain/catalog/seed.ts'
import { FLEET_TTL_MS } from '../../../../src/effects/placement/fleet.ts'
import { dropPlaces } from '../../../../src/services/catalog/fleet.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  beforeAll,
  createAccount,
  createKey,
  describe,
  expect,
  it,
  vi,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const BASE = '/v2/catalog'
const B200 = 'NVIDIA B200'
const on = (typeId: string, count: number, cudaVersion: string | null = '12.8') => ({
  gpus: [{ typeId, count, memoryMb: 180_000, driverVersion: null, cudaVersion, simulated: true }],
})

let account: Account
beforeAll(async () => {
  account = await createAccount()
})
afterEach(dropPlaces)

const get = async (path: string) => {
  dropPlaces()
  return api(account.key).get(`${BASE}${path}`)
}
const read = async (path: string) => {
  const { status, body } = await get(path)
  expect(status).toBe(200)
  return body
}
const gpuPath = (id: string, query = '') => `/gpus/${encodeURIComponent(id)}${query}`
const AVAILABLE = '?include=AVAILABILITY&product=POD'

describe('GPU types', () => {
  it('[CAT-1][SEED-1][SEED-2] are listed with their prices, and read by their percent-encoded id', async () => {
    const { gpus: listed } = await read('/gpus')
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(SEED_CATALOG.gpuTypes.map(({ id }) => id))
    const l4 = {
      id: 'NVIDIA L4',
      name: 'L4',
      pool: 'AMPERE_24',
      manufacturer: 'NVIDIA',
      memory: 24,
      secure: true,
      community: true,
      price: { secure: 0.44, community: 0.28, serverless: 0.69 },
      maxCount: { secure: 8, community: 8 },
    }
    expect(listed).toContainEqual(l4)
    expect(await read('/gpus/NVIDIA%20L4')).toEqual(l4)
    expect(await read(gpuPath('AMD Instinct MI300X OAM'))).toEqual({
      id: 'AMD Instinct MI300X OAM',
      name: 'MI300X',
      pool: null,
      manufacturer: 'AMD',
      memory: 192,
      secure: true,
      community: false,
      price: { secure: 2.49, community: 0 },
      maxCount: { secure: 8, community: 0 },
    })
    expect(await read(gpuPath('NVIDIA A30'))).toMatchObject({ secure: true, community: true, price: { secure: 0, community: 0 } })
    expect((await get(gpuPath('unknown'))).status).toBe(404)
  })

  it('[AUT-4] take a valid key and no scope', async () => {
    const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: [] })
    expect((await api(key).get(`${BASE}/gpus`)).status).toBe(200)
    expect((await api(null).get(`${BASE}/gpus`)).status).toBe(401)
  })

  const NEEDS = (name: string) => `${name} needs include=AVAILABILITY`
  const NAMES = "value must be one of 'POD', 'CLUSTER', 'SERVERLESS'"
  const TWICE = (name: string) => `$.${name}: parameter '${name}' is not exploded, but is specified multiple times`
  it.each([
    ['product=POD', 400, NEEDS('product')],
    ['count=2', 400, NEEDS('count')],
    ['count=1', 400, NEEDS('count')],
    ['cloud=SECURE', 400, NEEDS('cloud')],
    ['countryCodes=DE', 400, NEEDS('countryCodes')],
    ['cudaVersions=12.8', 400, NEEDS('cudaVersions')],
    ['minCudaVersion=12', 400, NEEDS('minCudaVersion')],
    ['include=AVAILABILITY', 400, 'include=AVAILABILITY needs product'],
    ['include=AVAILABILITY&product=POD&cudaVersions=12.8&minCudaVersion=12', 400, 'cudaVersions and minCudaVersion exclude each other'],
    ['include=ALL', 422, ["$.include[0]: value must be one of 'AVAILABILITY'"]],
    ['include=', 422, ["$.include[0]: value must be one of 'AVAILABILITY'"]],
    ['include=AVAILABILITY,AVAILABILITY', 422, ['$.include: maxItems: got 2, want 1']],
    ['include=AVAILABILITY&include=AVAILABILITY', 422, [TWICE('include')]],
    ['product=POD,VM', 422, [`$.product[1]: ${NAMES}`]],
    ['product=POD&product=SERVERLESS', 422, [TWICE('product')]],
    ['count=0', 422, ['$.count: minimum: got 0, want 1']],
    ['count=two', 422, ['$.count: got string, want number']],
    ['cloud=ALL', 422, ["$.cloud: value must be one of 'SECURE', 'COMMUNITY'"]],
    ['countryCodes=de', 422, ['$.countryCodes[0]: does not match pattern: want two capital letters such as DE']],
    ['countryCodes=DE&countryCodes=FR', 422, [TWICE('countryCodes')]],
    ['cudaVersions=12', 422, ['$.cudaVersions[0]: does not match pattern: want a version such as 12.8']],
    ['cudaVersions=12.4&cudaVersions=12.8', 422, [TWICE('cudaVersions')]],
    ['minCudaVersion=x', 422, ['$.minCudaVersion: does not match pattern: want a version such as 12 or 12.8']],
  ])('[CAT-2][ERR-3][ERR-5] %s is %i', async (query, status, text) => {
    for (const path of ['/gpus', gpuPath('NVIDIA L4')]) {
      const reply = await get(`${path}?${query}`)
      expect([reply.status, reply.body.errors ?? reply.body.detail], path).toEqual([status, text])
    }
  })

  it('[CAT-2][ERR-6] an unknown type is reported before filters that exclude each other', async () => {
    expect((await get('/gpus/unknown?count=2')).status).toBe(404)
  })
})

describe('live availability', () => {
  it('[CAT-3][CAT-7] follows the free capacity of hosts: a pod, a cordon, an end', async () => {
    const scene = await podScene(on(B200, 4))
    const show = () => read(gpuPath(B200, AVAILABLE))
    const place = (availability: string) => [{ id: 'LOCAL-1', name: 'LOCAL-1', availability }]
    expect(await show()).toMatchObject({
      availability: 'MEDIUM',
      dataCenters: place('MEDIUM'),
      cudaVersions: [{ version: '12.8', available: true }],
    })
    const { id } = await scene.create({ gpu: { id: B200, count: 2 } })
    expect(await show()).toMatchObject({ availability: 'LOW', dataCenters: place('LOW') })
    await admin().post(`/admin/v1/hosts/${scene.host.id}/cordon`, {})
    const cordoned = await show()
    expect(cordoned).toMatchObject({ availability: 'NONE', cudaVersions: [{ version: '12.8', available: false }] })
    expect(cordoned).not.toHaveProperty('dataCenters')
    await admin().post(`/admin/v1/hosts/${scene.host.id}/uncordon`)
    await scene.end(id)
    expect(await show()).toMatchObject({ availability: 'MEDIUM' })
    scene.leave()
  })

  it('[CAT-2][CAT-14] is for the requested size, cloud, product and CUDA version', async () => {
    const scene = await podScene(on('NVIDIA H200', 8, '12.8'))
    const level = async (query: string) => (await read(gpuPath('NVIDIA H200', `?include=AVAILABILITY&${query}`))).availability
    expect(await level('product=POD')).toBe('MEDIUM')
    expect(await level('product=POD&count=4')).toBe('LOW')
    expect(await level('product=POD&count=9')).toBe('NONE')
    expect(await level('product=POD&cloud=COMMUNITY')).toBe('NONE')
    expect(await level('product=SERVERLESS')).toBe('MEDIUM')
    expect(await level('product=CLUSTER')).toBe('NONE')
    expect(await level('product=CLUSTER,POD')).toBe('MEDIUM')
    expect(await level('product=POD&cudaVersions=12.4,12.8')).toBe('MEDIUM')
    expect(await level('product=POD&cudaVersions=12.4')).toBe('NONE')
    expect(await level('product=POD&minCudaVersion=12')).toBe('MEDIUM')
    expect(await level('product=POD&minCudaVersion=12.9')).toBe('NONE')
    scene.leave()
  })

  it('[CAT-13] is at most five seconds old', async () => {
    const scene = await podScene(on('NVIDIA B300 SXM6 AC', 1))
    const path = `${BASE}${gpuPath('NVIDIA B300 SXM6 AC', AVAILABLE)}`
    const show = async () => (await scene.call.get(path)).body.availability
    dropPlaces()
    expect(await show()).toBe('LOW')
    await scene.create({ gpu: { id: 'NVIDIA B300 SXM6 AC' } })
    vi.useFakeTimers({ now: Date.now() + FLEET_TTL_MS, toFake: ['Date'] })
    expect(await show()).toBe('NONE')
    vi.useRealTimers()
    scene.leave()
  })

  it('[CAT-12] depends on the account: a host of which another account holds a part does not count', async () => {
    const scene = await podScene({ ...on('NVIDIA H100 NVL', 4), isolation: { network: false } })
    await scene.create({ gpu: { id: 'NVIDIA H100 NVL' } })
    expect((await read(gpuPath('NVIDIA H100 NVL', AVAILABLE))).availability).toBe('NONE')
    dropPlaces()
    expect((await scene.call.get(`${BASE}${gpuPath('NVIDIA H100 NVL', AVAILABLE)}`)).body.availability).toBe('LOW')
    scene.leave()
  })

  it('[CAT-3] with countryCodes the list leaves out types that are nowhere there, and a single read keeps the type', async () => {
    const host = await FakeHost.join(on(B200, 2), { dataCenterId: 'EU-RO-1' })
    const ids = async (codes: string) => (await read(`/gpus${AVAILABLE}&countryCodes=${codes}`)).gpus.map(({ id }: { id: string }) => id)
    expect(await ids('RO,DE')).toEqual([B200])
    expect(await ids('DE')).toEqual([])
    expect((await read(gpuPath(B200, `${AVAILABLE}&countryCodes=RO`))).dataCenters).toEqual([
      { id: 'EU-RO-1', name: 'EU Romania 1', availability: 'LOW' },
    ])
    const elsewhere = await read(gpuPath(B200, `${AVAILABLE}&countryCodes=DE`))
    expect(elsewhere.availability).toBe('NONE')
    expect(elsewhere).not.toHaveProperty('dataCenters')
    host.leave()
  })

  it('[CAT-3] has no CUDA versions for types whose hosts report none', async () => {
    const host = await FakeHost.join(on('AMD Instinct MI300X OAM', 2, null))
    const shown = await read(gpuPath('AMD Instinct MI300X OAM', AVAILABLE))
    expect(shown.availability).toBe('LOW')
    expect(shown).not.toHaveProperty('cudaVersions')
    host.leave()
  })
})

describe('CPU flavors', () => {
  it('[CAT-4][SEED-3] are listed and read', async () => {
    const { cpus } = await read('/cpus')
    expect(cpus.map(({ id }: { id: string }) => id)).toEqual(['cpu3c', 'cpu5c', 'cpu3g', 'cpu5g', 'cpu3m', 'cpu5m'])
    expect(await read('/cpus/cpu3c')).toEqual({
      id: 'cpu3c',
      name: 'Compute-Optimized',
      group: 'Gen 3',
      vcpu: { min: 2, max: 32 },
      ramGbPerVcpu: 2,
      price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.02 },
    })
    expect((await get('/cpus/cpu3c-2-4')).status).toBe(404)
  })

  it.each([
    ['product=POD', 400, 'product needs include=AVAILABILITY'],
    ['vcpuCount=2', 400, 'vcpuCount needs include=AVAILABILITY'],
    ['include=AVAILABILITY', 400, 'include=AVAILABILITY needs product'],
    ['product=CLUSTER', 422, ["$.product[0]: value must be one of 'POD', 'SERVERLESS'"]],
    ['vcpuCount=3', 422, ['$.vcpuCount: want a power of two']],
    ['vcpuCount=1', 422, ['$.vcpuCount: minimum: got 1, want 2']],
    ['product=POD&product=POD', 422, ["$.product: parameter 'product' is not exploded, but is specified multiple times"]],
  ])('[CAT-4][ERR-3][ERR-5] %s is %i', async (query, status, text) => {
    for (const path of ['/cpus', '/cpus/cpu3c']) {
      const reply = await get(`${path}?${query}`)
      expect([reply.status, reply.body.errors ?? reply.body.detail], path).toEqual([status, text])
    }
  })

  it('[CAT-4][CAT-7] availability follows the cores and the memory of hosts', async () => {
    const host = await FakeHost.join({ gpus: [], vcpus: 8, memoryMb: 65_536, diskGb: 100 }, { dataCenterId: 'EU-CZ-1' })
    const there = async (query: string) => {
      const { dataCenters } = await read(`/cpus/cpu5m${AVAILABLE}${query}`)
      return dataCenters?.find(({ id }: { id: string }) => id === 'EU-CZ-1')
    }
    const place = (availability: string) => ({ id: 'EU-CZ-1', name: 'EU Czechia 1', availability })
    expect(await there('')).toEqual(place('MEDIUM'))
    expect(await there('&vcpuCount=8')).toEqual(place('LOW'))
    expect(await there('&vcpuCount=16')).toBeUndefined()
    expect(await read(`/cpus/cpu5m${AVAILABLE}&vcpuCount=64`)).toMatchObject({ availability: 'NONE' })
    host.leave()
  })
})

describe('data centers', () => {
  const ids = async (query: string) => (await read(`/datacenters?${query}`)).dataCenters.map(({ id }: { id: string }) => id)

  it('[CAT-5][SEED-5][SEED-6] are listed and read', async () => {
    expect((await ids('')).slice(0, 35)).toEqual(SEED_CATALOG.dataCenters.map(({ id }) => id))
    expect(await read('/datacenters/US-KS-2')).toEqual({
      id: 'US-KS-2',
      name: 'US Kansas 2',
      region: 'NORTH_AMERICA',
      globalNetwork: true,
      networkVolumeTypes: ['STANDARD', 'HIGH_PERFORMANCE'],
      compliance: [],
    })
    expect((await get('/datacenters/NOWHERE-1')).status).toBe(404)
  })

  it('[CAT-5] filters of one list are OR for regions and AND for the others; different ones combine with AND', async () => {
    expect(await ids('regions=ASIA,OCEANIA')).toEqual(['OC-AU-1', 'AP-JP-1', 'SEA-SG-1', 'AP-IN-1'])
    expect(await ids('networkVolumeTypes=STANDARD,HIGH_PERFORMANCE')).toEqual(['US-IL-1', 'US-KS-2', 'US-CA-2'])
    expect(await ids('regions=EUROPE&globalNetwork=true')).toEqual(['EU-RO-1', 'EU-CZ-1', 'EUR-NO-1'])
    expect(await ids('regions=OCEANIA&globalNetwork=true')).toEqual([])
    expect(await ids('compliance=GDPR')).toEqual([])
    expect(await ids('globalNetwork=false')).not.toContain('EU-RO-1')
  })

  it.each([
    ['regions=MOON', "$.regions[0]: value must be one of 'NORTH_AMERICA', 'SOUTH_AMERICA'"],
    ['regions=ASIA&regions=EUROPE', "$.regions: parameter 'regions' is not exploded, but is specified multiple times"],
    ['networkVolumeTypes=FAST', "$.networkVolumeTypes[0]: value must be one of 'STANDARD', 'HIGH_PERFORMANCE'"],
    ['compliance=NONE', '$.compliance[0]: value must be one of'],
    ['globalNetwork=perhaps', "$.globalNetwork: value must be one of 'true', '1', 'false', '0'"],
    ['include=AVAILABILITY', "$.include[0]: value must be one of 'GPU_AVAILABILITY', 'CPU_AVAILABILITY'"],
  ])('[CAT-5][ERR-3][ERR-5] %s is 422', async (query, text) => {
    const reply = await get(`/datacenters?${query}`)
    expect([reply.status, reply.body.errors]).toEqual([422, [expect.stringContaining(text)]])
  })

  it('[CAT-5][RES-2] list their available types; one that a host named exists as long as the host', async () => {
    const host = await FakeHost.join({ ...on(B200, 1), vcpus: 4, memoryMb: 32_768, diskGb: 100 }, { dataCenterId: 'LAB-3' })
    const shown = await read('/datacenters/LAB-3?include=GPU_AVAILABILITY,CPU_AVAILABILITY')
    expect(shown).toMatchObject({ name: 'LAB-3', region: 'UNKNOWN', gpuAvailability: [{ id: B200, name: 'B200', availability: 'LOW' }] })
    expect(shown.cpuAvailability).toContainEqual({ id: 'cpu3c', name: 'Compute-Optimized', availability: 'LOW' })
    expect(await read('/datacenters/EU-DK-1?include=GPU_AVAILABILITY,CPU_AVAILABILITY')).toMatchObject({
      gpuAvailability: [],
      cpuAvailability: [],
    })
    expect(await ids('')).toContain('LAB-3')
    host.leave()
  })
})
