import { createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const mcp = replayOf('mcp')

describe('the MCP server', () => {
  it('[GQL-61] checks its key, and asks for capacity without one', async () => {
    const scene = await podScene(gpus(4))
    expect(await mcp.play(scene.account.key, 'key-check')).toEqual({ myself: { id: scene.account.userId } })
    const { gpuTypes } = await mcp.play(null, 'capacity')
    expect(gpuTypes.find(({ id }: { id: string }) => id === 'NVIDIA L4')).toEqual({
      id: 'NVIDIA L4',
      displayName: 'L4',
      memoryInGb: 24,
      secureCloud: true,
      communityCloud: true,
      lowestPrice: {
        stockStatus: expect.stringMatching(/^(Low|Medium|High)$/),
        uninterruptablePrice: 0.44,
        gpuTypeCudaVersions: expect.arrayContaining([{ cudaVersion: '12.8', availability: 'AVAILABLE' }]),
      },
    })
    scene.leave()
  })

  it('[GQL-61] finds no hub and no public endpoints', async () => {
    const { key } = await createAccount()
    expect(await mcp.play(null, 'public-endpoints')).toEqual({ allAiApiPublicConfigs: [] })
    expect(await mcp.play(null, 'hub-repos')).toEqual({ listings: [] })
    expect(await mcp.play(key, 'hub-repos-with-config')).toEqual({ listings: [] })
  })
})
