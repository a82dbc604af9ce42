import { fairRoom } from '../../host-protocol/fair-room.ts'

/** What pods hold of a machine's disk, for the accounts of one person (SHR-41). What workers of that person hold is in neither number. */
export interface DiskUse {
  totalGb: number
  /** By the person's pods, stopped ones too. */
  heldGb: number
  /** By all other persons. */
  othersGb: number
}

/**
 * GB of a machine's disk that one more pod of this person may take (SHR-41): all of its pods together as much as they leave to others. A pod that
 * was stopped holds its disk for nothing, so what it paid before gives it no more. `withinDiskShare` is the same in SQL. Pure.
 */
export function diskRoom({ totalGb, heldGb, othersGb }: DiskUse): number {
  return Math.max(0, fairRoom(totalGb, othersGb) - heldGb)
}
