import { describeConstraint } from '../../../src/domain/host/constraint-text.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('[WHY-21] a constraint as a tenant reads it: the requirement, not the capacity of the host', () => {
  it.each([
    ['status: ONLINE > OFFLINE', 'needs a host that is online'],
    ['schedulable: yes > cordoned', 'needs a host that is not cordoned'],
    ['disk: writable > full', 'needs a host whose disk is not full'],
    ['runtime: docker > process', 'needs a container engine'],
    ['runtime: process > none', 'needs an agent that runs built-in images'],
    ['dataCenter: US-KS-2|EU-RO-1 > LAB_7', 'needs data center US-KS-2 or EU-RO-1'],
    ['cloud: SECURE > COMMUNITY', 'needs SECURE hardware'],
    ['vcpu: 2 > 0', 'needs 2 free vCPUs'],
    ['vcpuPerGpu: 8 > 3', 'needs 8 vCPUs for each GPU'],
    ['memoryMb: 8192 > 512', 'needs 8 GB of free memory'],
    ['memoryMb: 1600 > 512', 'needs 1.6 GB of free memory'],
    ['memoryMbPerGpu: 16384 > 1', 'needs 16 GB of memory for each GPU'],
    ['diskGb: 50 > 7', 'needs 50 GB of free disk'],
    ['gpu NVIDIA GeForce RTX 4090: 2 > 1', 'needs 2 free NVIDIA GeForce RTX 4090'],
    ['cuda: 12.4|12.8 > unknown', 'needs CUDA 12.4 or 12.8'],
    ['compute: offered > none', 'needs a compute type that the operator offers'],
    ['networkVolumes: yes > none', 'needs a host with network volumes'],
    ['globalVolumes: yes > none', 'needs a host with global volumes'],
    ['capacity: taken by another request, or its host does not respond', 'needs capacity that another request has just taken'],
  ])('%s', (failed, text) => expect(describeConstraint(failed)).toBe(text))

  it('is the bare name for one without a text', () => {
    expect(describeConstraint('secret: 7 > 42')).toBe('secret')
  })
})
