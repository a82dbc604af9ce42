import { fairRoom } from '../../host-protocol/fair-room.ts'

/** The use of a host's disk by pods, as seen by the accounts of one person (SHR-41). Neither number includes that person's workers. */
export interface DiskUse {
  totalGb: number
  /** GB of the person's pods, stopped ones too. */
  heldGb: number
  /** GB of all other persons. */
  othersGb: number
}

/**
 * GB of a host's disk that one more pod of this person may take (SHR-41): all pods of the person together take at most as much as they
 * leave to others. A stopped pod counts like a running one. `withinDiskShare` is the same in SQL. Pure.
 */
export function diskRoom({ totalGb, heldGb, othersGb }: DiskUse): number {
  return Math.max(0, fairRoom(totalGb, othersGb) - heldGb)
}
