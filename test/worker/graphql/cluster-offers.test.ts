import { graphql } from '../../support/graphql.ts'
import { describe, expect, it } from '../../support/harness.ts'

const ask = async (query: string) => (await graphql(null)(query)).body

describe('what buyers of clusters are told', () => {
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
})
