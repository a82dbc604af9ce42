import { addressOfRank, clusterEnv, placeOfMember } from '../../../src/domain/cluster/environment.ts'
import { clusterFiles, slurmConf } from '../../../src/domain/cluster/files.ts'
import { roleOf } from '../../../src/domain/cluster/roles.ts'
import { memberAddress } from '../../../src/domain/overlay/addresses.ts'
import { describe, expect, it } from '../../support/unit.ts'

const compute = {
  kind: 'gpu',
  typeId: 'NVIDIA L4',
  count: 2,
  allowedCudaVersions: [],
  minCudaVersion: null,
  minRamGbPerGpu: null,
  minVcpuPerGpu: null,
} as const
const spec = (type: 'TRAINING' | 'SLURM' | 'RAY') => ({ cluster: { type, podCount: 3 }, compute: { ...compute, allowedCudaVersions: [] } })
const place = { rank: 2, address: '10.64.3.4', podCount: 3 }
const facts = (type: 'TRAINING' | 'SLURM' | 'RAY') => ({ place, spec: spec(type), vcpus: 8, memoryMb: 32_768, mungeKey: 'a2V5' })

describe('the environment of a member', () => {
  it('[ENV-3] has every variable of the rendezvous', () => {
    expect(clusterEnv(place, { spec: spec('TRAINING') })).toEqual({
      PRIMARY_ADDR: '10.64.3.2',
      MASTER_ADDR: '10.64.3.2',
      PRIMARY_PORT: '29500',
      MASTER_PORT: '29500',
      NODE_ADDR: '10.64.3.4',
      NODE_RANK: '2',
      NUM_NODES: '3',
      NUM_TRAINERS: '2',
      HOST_NODE_ADDR: '10.64.3.2:29500',
      WORLD_SIZE: '6',
    })
  })

  it('[ENV-12] a RAY member knows its head, and one command that joins it', () => {
    expect(clusterEnv(place, { spec: spec('RAY') })).toMatchObject({ RAY_HEAD_ADDR: '10.64.3.2', RAY_ADDRESS: '10.64.3.2:6379' })
    expect(clusterFiles(facts('RAY')).map(({ path, mode }) => [path, mode])).toEqual([['/usr/local/bin/podplane-ray', 0o755]])
    expect(atob(clusterFiles(facts('RAY'))[0]?.content ?? '')).toContain('--port=6379')
  })

  it('[ENV-13] a SLURM member gets the key and the same configuration as all others', () => {
    const files = clusterFiles(facts('SLURM'))
    expect(files.map(({ path, mode, owner }) => [path, mode, owner])).toEqual([
      ['/etc/munge/munge.key', 0o400, 'munge'],
      ['/etc/slurm/slurm.conf', 0o644, undefined],
      ['/etc/slurm/gres.conf', 0o644, undefined],
      ['/etc/slurm/cgroup.conf', 0o644, undefined],
      ['/usr/local/bin/podplane-slurm', 0o755, undefined],
    ])
    expect(slurmConf(facts('SLURM'))).toBe(slurmConf({ ...facts('SLURM'), place: { ...place, rank: 0, address: '10.64.3.2' } }))
    expect(slurmConf(facts('SLURM'))).toContain('NodeName=node-[0-2] CPUs=8 RealMemory=32768 Gres=gpu:2 State=UNKNOWN\n')
    expect(slurmConf(facts('SLURM'))).toContain('SlurmctldHost=node-0\n')
    expect(clusterFiles(facts('TRAINING'))).toEqual([])
  })

  it('[CLU-20] addresses of the others follow from its own', () => {
    for (const rank of [0, 1, 249]) {
      const own = { rank, address: memberAddress('cluster', 8_191, rank) }
      expect([0, 7, 249].map((other) => addressOfRank(own, other))).toEqual(
        [0, 7, 249].map((other) => memberAddress('cluster', 8_191, other)),
      )
    }
    expect(placeOfMember({ clusterRank: null, clusterIp: null, spec: {} })).toBeNull()
  })

  it('[CLU-9] roles go by rank, where the type has any', () => {
    expect([0, 1].map((rank) => roleOf('SLURM', rank))).toEqual(['SLURM_CONTROLLER', 'SLURM_COMPUTE'])
    expect([0, 1].map((rank) => roleOf('RAY', rank))).toEqual(['RAY_HEAD', 'RAY_WORKER'])
    expect([roleOf('TRAINING', 0), roleOf('APPLICATION', 1)]).toEqual([null, null])
  })
})
