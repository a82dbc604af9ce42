import { CLOUDS, type Cloud } from '../../contract/enums.ts'
import type { PlacementRequest, PlacementStrategy } from './placement.ts'
import { compareRoom } from './room.ts'

/** The classes of hosts that may fit a workload, by which placement reads the index of free capacity (adr/0074). Pure. */

/** The tenant of hosts that take any account. */
const ANY_TENANT = ''

/** One class of hosts and the capacity without which no host of it fits. */
export interface OpeningClass {
  /** Every host of a class with a smaller rank is preferred. */
  rank: number
  gpu: { typeId: string; count: number } | null
  cloud: Cloud
  /** Null: any. */
  dataCenterId: string | null
  /** The account that the hosts are for; '': any. */
  tenant: string
  vcpus: number
  memoryMb: number
  diskGb: number
}

/** A host in the index, with the free capacity that its place in the order of the policy follows from. */
export interface Opening {
  hostId: string
  /** Free GPUs of all types. */
  gpusFree: number
  vcpuFree: number
}

type Capacity = Pick<OpeningClass, 'rank' | 'gpu' | 'vcpus' | 'memoryMb' | 'diskGb'>

/** The classes of a capacity in one data center, or in all of them: of each cloud, hosts for any account and hosts for this one. */
export function classesIn(teamId: string, cloud: Cloud | 'ALL', dataCenterId: string | null, capacity: Capacity): OpeningClass[] {
  const clouds = cloud === 'ALL' ? CLOUDS : [cloud]
  return clouds.flatMap((one) => [ANY_TENANT, teamId].map((tenant) => ({ ...capacity, cloud: one, dataCenterId, tenant })))
}

/** The classes of the hosts that a worker may fit on. The rank is the number of the shape. */
export function classesOfRequest({ teamId, cloud, dataCenterIds, diskGb, shapes }: PlacementRequest): OpeningClass[] {
  const places = dataCenterIds.length > 0 ? [...new Set(dataCenterIds)] : [null]
  return shapes.flatMap(({ gpu, vcpus, memoryMb }, rank) =>
    places.flatMap((place) => classesIn(teamId, cloud, place, { rank, gpu, vcpus, memoryMb, diskGb })),
  )
}

/** Compares two openings of one rank in the order of the policy. */
export function compareOpenings(strategy: PlacementStrategy, a: Opening, b: Opening): number {
  return compareRoom(strategy, { ...a, id: a.hostId }, { ...b, id: b.hostId })
}
