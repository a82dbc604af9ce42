import type { CpuType, GpuType } from '../../../src/contract/catalog/catalog.ts'
import { type LowestPriceInput, lowestPrice, lowestPriceQueries, specifics } from '../../../src/domain/graphql/catalog.ts'
import { describe, expect, it } from '../../support/unit.ts'

const CATALOG = { gpuTypes: [], cpuFlavors: [], dataCenters: [], storage: {} as never }
const TYPE: GpuType = {
  id: 'NVIDIA L4',
  name: 'L4',
  pool: null,
  manufacturer: 'NVIDIA',
  memory: 24,
  secure: true,
  community: true,
  price: { secure: 0.5, community: 0.3 },
  maxCount: { secure: 8, community: 8 },
}
const PLACES = {
  dataCenters: [
    { id: 'EU-RO-1', compliance: ['GDPR'] },
    { id: 'US-KS-2', compliance: ['GDPR', 'HIPAA'] },
  ] as never,
}
const queriesOf = (input: LowestPriceInput) => lowestPriceQueries(input, PLACES)
const [secure, community] = queriesOf({})

describe('[GQL-34] the lowest price', () => {
  it('is taken from the clouds that are allowed', () => {
    const cloudsOf = (secureCloud: boolean | null | undefined) =>
      queriesOf(secureCloud === undefined ? {} : { secureCloud }).map(({ cloud }) => cloud)
    expect([cloudsOf(true), cloudsOf(false), cloudsOf(null), cloudsOf(undefined)]).toEqual([
      ['SECURE'],
      ['COMMUNITY'],
      ['SECURE', 'COMMUNITY'],
      ['SECURE', 'COMMUNITY'],
    ])
    expect(queriesOf({ secureCloud: true, gpuCount: 2, allowedCudaVersions: ['12.4'], countryCode: 'us' })).toEqual([
      { include: ['AVAILABILITY'], product: ['POD'], cloud: 'SECURE', count: 2, cudaVersions: ['12.4'], countryCodes: ['US'] },
    ])
  })

  it('[GQL-44] is of a pod of the given size and place; zero, null and empty mean any', () => {
    const of = (input: LowestPriceInput) => {
      const [{ needs, dataCenterIds } = {}] = queriesOf({ secureCloud: true, ...input })
      return { needs, dataCenterIds }
    }
    expect(of({ minVcpuCount: 8, minMemoryInGb: 40, totalDisk: 200, globalNetwork: true })).toEqual({
      needs: { vcpus: 8, memoryGb: 40, diskGb: 200, globalNetworking: true },
    })
    expect(of({ minVcpuCount: 0, minMemoryInGb: -1, totalDisk: null, globalNetwork: false, compliance: [], dataCenterId: '' })).toEqual({})
    expect(of({ compliance: ['GDPR', null] })).toEqual({ dataCenterIds: ['EU-RO-1', 'US-KS-2'] })
    expect(of({ compliance: ['GDPR'], dataCenterId: 'EU-RO-1' })).toEqual({ dataCenterIds: ['EU-RO-1'] })
    expect(of({ compliance: ['HIPAA'], dataCenterId: 'EU-RO-1' })).toEqual({ dataCenterIds: [] })
    expect(of({ dataCenterId: 'LOCAL-1' })).toEqual({ dataCenterIds: ['LOCAL-1'] })
  })

  it('is of the cloud that has stock, SECURE first, as a create tries them; without stock of SECURE, and never of both', () => {
    if (!secure || !community) throw new Error('two clouds')
    const quote = (inSecure: 'NONE' | 'LOW', inCommunity: 'NONE' | 'HIGH', type: Partial<typeof TYPE> = {}) => {
      const sold = (availability: 'NONE' | 'LOW' | 'HIGH') => [{ ...TYPE, ...type, availability }]
      const { uninterruptablePrice, stockStatus, input } = lowestPrice(CATALOG, TYPE.id, {}, [
        { query: secure, types: sold(inSecure) },
        { query: community, types: sold(inCommunity) },
      ])
      return [uninterruptablePrice, stockStatus, input.secureCloud]
    }
    const { secure: dear, community: cheap } = TYPE.price
    expect(dear).toBeGreaterThan(cheap)
    expect(quote('LOW', 'HIGH')).toEqual([dear, 'Low', true])
    expect(quote('NONE', 'HIGH')).toEqual([cheap, 'High', false])
    expect(quote('NONE', 'NONE')).toEqual([dear, 'None', true])
    expect(quote('NONE', 'NONE', { secure: false })).toEqual([cheap, 'None', false])
  })

  it('names CUDA versions and stock of the cloud that it quotes', () => {
    if (!secure || !community) throw new Error('two clouds')
    const offers = [
      { query: secure, types: [{ ...TYPE, availability: 'MEDIUM' as const, cudaVersions: [{ version: '12.4', available: false }] }] },
      {
        query: community,
        types: [
          {
            ...TYPE,
            availability: 'LOW' as const,
            cudaVersions: [{ version: '12.4', available: true }],
          },
        ],
      },
    ]
    expect(lowestPrice(CATALOG, TYPE.id, {}, offers)).toMatchObject({
      uninterruptablePrice: TYPE.price.secure,
      minimumBidPrice: TYPE.price.secure,
      stockStatus: 'Medium',
      gpuTypeCudaVersions: [{ cudaVersion: '12.4', availability: 'UNAVAILABLE' }],
    })
    expect(lowestPrice(CATALOG, 'none', {}, offers)).toMatchObject({ uninterruptablePrice: null, stockStatus: 'None' })
  })
})

const FLAVOR: CpuType = {
  id: 'cpu3c',
  name: 'Compute-Optimized',
  group: 'Gen 3',
  vcpu: { min: 2, max: 32 },
  ramGbPerVcpu: 2,
  price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.02 },
  availability: 'HIGH',
  dataCenters: [{ id: 'EU-RO-1', name: 'EU Romania 1', availability: 'LOW' }],
}

describe('a CPU machine', () => {
  const of = (instanceId: string | null, dataCenterId: string | null = null) => specifics('cpu3c', { instanceId, dataCenterId }, [FLAVOR])

  it('[GQL-64] is the smallest one, unless a size is named', () => {
    expect(of(null)).toEqual({ stockStatus: 'High', securePrice: 0.06, slsPrice: 0.04 })
    expect(of('cpu3c-4-8', 'EU-RO-1')).toEqual({ stockStatus: 'Low', securePrice: 0.12, slsPrice: 0.08 })
    expect(of('cpu3c-4-8', 'US-KS-2')).toEqual({ stockStatus: 'None', securePrice: 0.12, slsPrice: 0.08 })
  })

  it('[GQL-71] is null for a size that its flavor does not have', () => {
    expect([of('cpu3c-0-0'), of('cpu3c-1-2'), of('cpu3c-64-128'), of('cpu9x-2-4')]).toEqual([null, null, null, null])
  })
})
