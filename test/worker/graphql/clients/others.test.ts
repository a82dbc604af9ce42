import { createAccount, describe, expect, it } from '../../../support/harness.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'

const rp = replayOf('rp')
const java = replayOf('java')

describe('rp', () => {
  it('[GQL-61] checks its key, lists data centers, and finds no hub', async () => {
    const { key, userId } = await createAccount()
    expect(await rp.play(key, 'key-check')).toEqual({ myself: { id: userId } })
    expect(await rp.play(null, 'key-check')).toEqual({ myself: null })
    const { dataCenters } = await rp.play(key, 'data-centers')
    expect(dataCenters).toContainEqual({
      id: 'US-KS-2',
      name: 'US Kansas 2',
      location: expect.any(String),
      s3apiEnabled: expect.any(Boolean),
      gpuAvailability: expect.any(Array),
    })
    expect(await rp.play(null, 'listing-from-repo', { variables: { repoOwner: 'a', repoName: 'b' } })).toEqual({ listingFromRepo: null })
  })
})

describe('the Java client', () => {
  it('[GQL-61] reads CPU types and flavors', async () => {
    const { cpuTypes } = await java.play(null, 'cpu-types')
    expect(cpuTypes).toEqual(expect.any(Array))
    const { cpuFlavors } = await java.play(null, 'cpu-flavors')
    expect(cpuFlavors).toContainEqual({
      id: 'cpu3c',
      displayName: 'Compute-Optimized',
      groupId: expect.any(String),
      groupName: expect.any(String),
      minVcpu: 2,
      maxVcpu: 32,
      ramMultiplier: 2,
      diskLimitPerVcpu: 10,
      specifics: { stockStatus: 'None', securePrice: expect.any(Number), slsPrice: expect.any(Number) },
    })
  })
})
