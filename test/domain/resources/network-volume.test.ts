import type { CreateNetworkVolumeRequest } from '../../../src/contract/resources/network-volumes.ts'
import { type DataCenter, joinedDataCenter } from '../../../src/domain/catalog/data-centers.ts'
import { createNetworkVolume, patchNetworkVolume } from '../../../src/domain/resources/network-volume.ts'
import { describe, expect, it } from '../../support/unit.ts'

const IDS = { id: 'v', teamId: 't' }
const BODY: CreateNetworkVolumeRequest = { name: 'n', size: 20, dataCenter: 'D-1' }
const VOLUME = { ...IDS, name: 'n', sizeGb: 20, dataCenterId: 'D-1', type: 'STANDARD' } as const

function create(changes: Partial<CreateNetworkVolumeRequest>, dataCenter: DataCenter | null) {
  const result = createNetworkVolume({ ...BODY, ...changes }, IDS, dataCenter)
  return result.ok ? result.volume : [result.problem.key, result.problem.detail]
}

function patch(changes: { name?: string; size?: number }) {
  const result = patchNetworkVolume(VOLUME, changes)
  return result.ok ? result.volume : [result.problem.key, result.problem.detail]
}

describe('create', () => {
  const place = joinedDataCenter('D-1')
  it('[VOL-2] takes the first type of the data center unless one is named', () => {
    expect(create({}, place)).toEqual(VOLUME)
    const fast = { ...place, networkVolumeTypes: ['HIGH_PERFORMANCE', 'STANDARD'] as const }
    expect(create({}, fast)).toMatchObject({ type: 'HIGH_PERFORMANCE' })
    expect(create({ type: 'STANDARD' }, fast)).toMatchObject({ type: 'STANDARD' })
  })

  it('[VOL-2] refuses an unknown place, one without storage, and a type that it lacks', () => {
    expect(create({}, null)).toEqual(['badRequest', 'dataCenter: data center D-1 not found'])
    expect(create({}, { ...place, networkVolumeTypes: [] })).toEqual(['badRequest', 'dataCenter: data center D-1 has no network volumes'])
    expect(create({ type: 'HIGH_PERFORMANCE' }, place)).toEqual([
      'badRequest',
      'type: data center D-1 has no HIGH_PERFORMANCE volumes, only STANDARD',
    ])
  })
})

describe('update', () => {
  it('[VOL-3] keeps omitted members, and only grows', () => {
    expect(patch({ name: 'm' })).toEqual({ ...VOLUME, name: 'm' })
    expect(patch({ size: 19 })).toEqual(['badRequest', 'size: a network volume cannot shrink; it has 20 GB'])
    expect(patch({ size: 20 })).toEqual(VOLUME)
    expect(patch({ size: 21 })).toEqual({ ...VOLUME, sizeGb: 21 })
  })
})
