import { dropPlaces } from '../../../src/services/catalog/fleet.ts'
import { describe, expect, it } from '../../support/harness.ts'
import { ClusterScene } from '../../support/hosts/cluster-scene.ts'
import { graphql } from '../../support/http/graphql.ts'

const ask = async (query: string) => (await graphql(null)(query)).body

describe('offers to buyers of clusters', () => {
  it('[GQL-62] countries of the data centers, each once and in order', async () => {
    const { countryCodes } = (await ask('{ countryCodes }')).data
    expect(countryCodes).toEqual([...new Set(countryCodes)].toSorted())
    expect(countryCodes).toEqual(expect.arrayContaining(['CA', 'RO', 'US']))
  })

  it('[GQL-62] a GPU of a cluster costs what one of a data center does; the price of a country names it', async () => {
    const { data } = await ask(`{ gpuTypes(input: {id: "NVIDIA L4", cluster: true}) { minPodGpuCount clusterPrice securePrice
      lowestPrice(input: {gpuCount: 8, countryCode: "US"}) { countryCode } } }`)
    expect(data.gpuTypes).toEqual([{ minPodGpuCount: 1, clusterPrice: 0.44, securePrice: 0.44, lowestPrice: { countryCode: 'US' } }])
  })

  it('[GQL-62] data centers in which a cluster of the type fits, and no others', async () => {
    const query = '{ gpuTypes(input: {ids: ["NVIDIA L4", "NVIDIA B200"]}) { id nodeGroupDatacenters { id } } }'
    const scene = await ClusterScene.open(2)
    dropPlaces()
    expect(Object.fromEntries((await ask(query)).data.gpuTypes.map((type: Offer) => [type.id, type.nodeGroupDatacenters]))).toEqual({
      'NVIDIA L4': [{ id: scene.dataCenterId }],
      'NVIDIA B200': [],
    })
    for (const host of scene.hosts) host.leave()
  })
})

interface Offer {
  id: string
  nodeGroupDatacenters: { id: string }[]
}
