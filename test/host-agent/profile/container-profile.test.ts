import { describe, test } from 'vitest'
import { CAPABILITIES, containerProfile, type ProfileFacts } from '../../../src/host-agent/profile/container-profile.ts'

const facts: ProfileFacts = {
  engineRuntime: undefined,
  cgroupNamespaces: true,
  pidMax: 4_194_304,
  openFilesMax: 1_048_576,
  realVcpus: 8,
  raisesLimits: true,
}
const resources = { vcpus: 2, memoryMb: 4_096, diskGb: 10, gpu: null }

describe('container profile', () => {
  test('[HOST-88][H9] gives every container the same few capabilities and bounds', ({ expect }) => {
    expect(containerProfile(resources, facts)).toEqual({
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['ALL'],
      CapAdd: [...CAPABILITIES],
      CgroupnsMode: 'private',
      PidsLimit: 2_048,
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: 65_536, Hard: 1_048_576 },
      ],
      OomScoreAdj: 500,
      BlkioWeight: 250,
    })
    for (const power of ['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'NET_RAW', 'MKNOD', 'SETPCAP', 'SYS_MODULE'])
      expect(CAPABILITIES).not.toContain(power)
  })

  test('[HOST-88] lets CUDA pin memory where a GPU is given', ({ expect }) => {
    const { Ulimits } = containerProfile({ ...resources, gpu: { typeId: 'NVIDIA L4', count: 1 } }, facts)
    expect(Ulimits).toContainEqual({ Name: 'memlock', Soft: -1, Hard: -1 })
    expect(containerProfile(resources, { ...facts, raisesLimits: false }).Ulimits).toEqual([{ Name: 'core', Soft: 0, Hard: 0 }])
  })

  test.for([
    // vCPUs, of, most processes of the machine, limit
    [2, 8, 4_194_304, 2_048],
    [0, 8, 4_194_304, 1_024],
    [0.5, 8, 4_194_304, 1_024],
    [64, 8, 4_194_304, 65_536],
    // All containers of a machine together leave an eighth of its processes.
    [2, 2, 32_768, 2_048],
    [1, 64, 32_768, 448],
    [32, 64, 32_768, 14_336],
    [1, 512, 32_768, 64],
  ] as const)('[HOST-88] %s vCPU of %s with %s processes: at most %s', ([vcpus, realVcpus, pidMax, limit], { expect }) => {
    expect(containerProfile({ ...resources, vcpus }, { ...facts, realVcpus, pidMax }).PidsLimit).toBe(limit)
  })

  test('[HOST-88] requests no more than the kernel has', ({ expect }) => {
    const small = containerProfile({ ...resources, vcpus: 0.1 }, { ...facts, cgroupNamespaces: false, openFilesMax: 4_096, realVcpus: 512 })
    expect(small).not.toHaveProperty('CgroupnsMode')
    expect(small.Ulimits).toContainEqual({ Name: 'nofile', Soft: 4_096, Hard: 4_096 })
    expect(small.BlkioWeight).toBe(10)
    expect(containerProfile({ ...resources, vcpus: 99 }, facts).BlkioWeight).toBe(1_000)
  })

  test('[HOST-87] names the runtime of its class to the engine', ({ expect }) => {
    expect(containerProfile(resources, facts)).not.toHaveProperty('Runtime')
    expect(containerProfile(resources, { ...facts, engineRuntime: 'runsc' }).Runtime).toBe('runsc')
  })
})
