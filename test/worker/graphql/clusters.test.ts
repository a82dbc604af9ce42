import { createAccount, describe, expect, it } from '../../support/harness.ts'
import { ClusterScene } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'

const CREATE = 'mutation createCluster($input: CreateClusterInput!) { createCluster(input: $input) { id name type podCount } }'
const READ = `query cluster($id: String!) { myself { cluster(input: {id: $id}) { id name type podCount gpuCountPerPod
  pods { id name clusterIdx clusterRole clusterIp desiredStatus podType } } } }`
const DELETE = 'mutation deleteCluster($input: DeleteClusterInput!) { deleteCluster(input: $input) }'

describe('clusters', () => {
  it('[GQL-41] are made, read with their members, and deleted', async () => {
    const scene = await ClusterScene.open(3)
    const call = graphql(scene.account.key)
    const input = {
      clusterName: 'llama',
      gpuTypeId: GPU,
      podCount: 3,
      gpuCountPerPod: 1,
      type: 'TRAINING',
      deployCost: 1.5,
      imageName: 'acme/train:1',
      containerDiskInGb: 20,
      ports: '22/tcp',
      dataCenterIds: [scene.dataCenterId],
      env: [{ key: 'A', value: '1' }],
    }
    const made = await call(CREATE, { input })
    expect(made.body.errors).toBeUndefined()
    const { id } = made.body.data.createCluster
    expect(made.body.data.createCluster).toEqual({ id, name: 'llama', type: 'TRAINING', podCount: 3 })
    expect(await scene.get(id)).toMatchObject({ name: 'llama', compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 3 } })
    expect((await scene.pods(id))[0]).toMatchObject({ image: 'acme/train:1', disk: 20, ports: ['22/tcp'], env: { A: '1' } })
    const { cluster } = (await call(READ, { id })).body.data.myself
    expect(cluster).toMatchObject({ id, name: 'llama', podCount: 3, gpuCountPerPod: 1 })
    const shown = cluster.pods.map((pod: Record<string, unknown>) => [
      pod.name,
      pod.clusterIdx,
      pod.clusterRole,
      pod.desiredStatus,
      pod.podType,
    ])
    expect(shown).toEqual([
      ['llama-0', 0, 'PRIMARY', 'RUNNING', 'RESERVED'],
      ['llama-1', 1, 'SECONDARY', 'RUNNING', 'RESERVED'],
      ['llama-2', 2, 'SECONDARY', 'RUNNING', 'RESERVED'],
    ])
    expect((await call('{ myself { clusters { id gpuTypeId } pods { id } } }')).body.data.myself).toEqual({
      clusters: [{ id, gpuTypeId: GPU }],
      pods: [],
    })
    const otherTenant = graphql((await createAccount()).key)
    expect((await otherTenant(READ, { id })).body.data.myself).toEqual({ cluster: null })
    expect((await otherTenant(DELETE, { input: { id } })).body.errors).toHaveLength(1)
    expect(await call(DELETE, { input: { id } })).toMatchObject({ status: 200, body: { data: { deleteCluster: null } } })
    expect((await call(READ, { id })).body.data.myself).toEqual({ cluster: null })
    for (const host of scene.hosts) host.leave()
  })

  it('[GQL-41] refusals of v2 use the names of GraphQL', async () => {
    const call = graphql((await createAccount()).key)
    const input = { clusterName: 'c', gpuTypeId: GPU, podCount: 1, gpuCountPerPod: 1, type: 'TRAINING', imageName: 'i' }
    expect((await call(CREATE, { input })).body.errors[0].message).toContain('$.podCount: ')
    expect((await call(CREATE, { input: { ...input, podCount: 2, type: 'CAKE' } })).body.errors[0].message).toContain('$.type: ')
  })
})
