import { describe, expect, it } from '../../../support/harness.ts'
import { ClusterScene } from '../../../support/hosts/cluster-scene.ts'
import { GPU } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'

const terraform = replayOf('terraform')

describe('the Terraform provider', () => {
  it('[GQL-61] creates a cluster, reads it with its members, lists and deletes it', async () => {
    const scene = await ClusterScene.open(2)
    const { key } = scene.account
    const input = {
      clusterName: 'train',
      gpuTypeId: GPU,
      podCount: 2,
      gpuCountPerPod: 1,
      type: 'TRAINING',
      deployCost: 2,
      imageName: 'acme/train:1',
      dataCenterIds: [scene.dataCenterId],
    }
    const { createCluster: made } = await terraform.play(key, 'create-cluster', { variables: { input } })
    expect(made).toEqual({ id: expect.any(String), name: 'train', type: 'TRAINING', podCount: 2 })
    const { cluster } = (await terraform.play(key, 'get-cluster', { variables: { id: made.id } })).myself
    const member = (rank: number, clusterRole: string) => ({
      id: expect.any(String),
      name: `train-${rank}`,
      clusterIdx: rank,
      clusterRole,
      clusterIp: expect.stringMatching(/^10\./),
      desiredStatus: 'RUNNING',
    })
    expect(cluster).toEqual({ ...made, gpuCountPerPod: 1, pods: [member(0, 'PRIMARY'), member(1, 'SECONDARY')] })
    expect((await terraform.play(key, 'list-clusters')).myself.clusters).toEqual([
      {
        ...made,
        gpuTypeId: GPU,
        gpuCountPerPod: 1,
        createdAt: expect.any(String),
        pods: cluster.pods.map(({ id }: { id: string }) => ({ id })),
      },
    ])
    const gone = await terraform.play(key, 'delete-cluster', { variables: { input: { id: made.id } } })
    expect(gone).toEqual({ deleteCluster: null })
    expect((await terraform.play(key, 'get-cluster', { variables: { id: made.id } })).myself).toEqual({ cluster: null })
    for (const host of scene.hosts) host.leave()
  })
})
