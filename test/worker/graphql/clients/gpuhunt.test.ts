import { dropPlaces } from '../../../../src/services/catalog/fleet.ts'
import { describe, env, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const gpuhunt = replayOf('gpuhunt')
const L4 = { id: 'NVIDIA L4', displayName: 'L4', memoryInGb: 24 }
const PRICE = { gpuCount: 1, minDisk: null, minMemoryInGb: null, minVcpuCount: null, minCudaVersion: '12.8' }
const l4Of = (types: { id: string }[]) => types.find(({ id }) => id === L4.id)

describe('the catalog of dstack, which has no key', () => {
  it('[GQL-61] [GQL-62] names of GPU types, places, and how many GPUs a pod may have', async () => {
    const names = await gpuhunt.play(null, 'gpu-names')
    expect(l4Of(names.gpuTypes)).toEqual({ ...L4, manufacturer: 'NVIDIA' })
    const places = await gpuhunt.play(null, 'places', { variables: {} })
    expect(places.countryCodes).toContain('US')
    expect(places.countryCodes).not.toContain(null)
    expect(places.dataCenters).toContainEqual({ id: 'US-KS-2', name: 'US Kansas 2', listed: true, __typename: 'DataCenter' })
    expect(l4Of(places.gpuTypes)).toEqual({
      ...L4,
      maxGpuCountSecureCloud: expect.any(Number),
      maxGpuCountCommunityCloud: expect.any(Number),
      minPodGpuCount: 1,
      secureCloud: true,
      communityCloud: true,
      __typename: 'GpuType',
    })
  })

  it('[GQL-61] [GQL-62] prices by data center, by country and for clusters', async () => {
    const scene = await podScene(gpus(2))
    // The cached fleet is older than this host and its data center.
    dropPlaces()
    const dataCenterId = await env.DB.prepare('SELECT data_center_id FROM hosts WHERE id = ?').bind(scene.host.id).first('data_center_id')
    const shared = { securePrice: 0.44, communityPrice: 0.28, oneMonthPrice: null, threeMonthPrice: null, sixMonthPrice: null }
    const ask = async (variables: Record<string, unknown>) => l4Of((await gpuhunt.play(null, 'prices', { variables })).gpuTypes)
    expect(await ask({ lowestPriceInput: { ...PRICE, secureCloud: true, dataCenterId } })).toMatchObject({
      ...L4,
      ...shared,
      clusterPrice: 0.44,
      lowestPrice: {
        uninterruptablePrice: 0.44,
        minimumBidPrice: 0.44,
        minVcpu: expect.any(Number),
        minMemory: expect.any(Number),
        stockStatus: expect.stringMatching(/^(Low|Medium|High)$/),
        countryCode: null,
        __typename: 'LowestPrice',
      },
    })
    // No host is in that country.
    expect(await ask({ lowestPriceInput: { ...PRICE, secureCloud: false, countryCode: 'JP' } })).toMatchObject({
      lowestPrice: { uninterruptablePrice: null, stockStatus: 'None', countryCode: 'JP' },
    })
    const clusters = await gpuhunt.play(null, 'prices', {
      variables: { gpuTypesInput: { cluster: true }, lowestPriceInput: { gpuCount: 8 } },
    })
    expect(clusters.gpuTypes.every(({ securePrice }: { securePrice: number | null }) => securePrice !== null)).toBe(true)
    expect(l4Of(clusters.gpuTypes)).toMatchObject({ clusterPrice: 0.44, nodeGroupDatacenters: expect.any(Array) })
    scene.leave()
  })

  it('[GQL-61] [GQL-64] CPU flavors of each data center', async () => {
    const { dataCenters } = await gpuhunt.play(null, 'cpu-data-centers', { variables: {} })
    expect(dataCenters).toContainEqual({ id: 'US-KS-2', listed: true })
    const { cpuFlavors } = await gpuhunt.play(null, 'cpu-flavors', { variables: { dataCenterId: 'US-KS-2' } })
    expect(cpuFlavors.find(({ id }: { id: string }) => id === 'cpu3c')).toEqual({
      id: 'cpu3c',
      displayName: 'Compute-Optimized',
      groupId: expect.any(String),
      minVcpu: 2,
      maxVcpu: 32,
      ramMultiplier: 2,
      diskLimitPerVcpu: 10,
      specifics: { stockStatus: expect.toSatisfy((status) => status === null || typeof status === 'string'), securePrice: 0.06 },
    })
  })
})
