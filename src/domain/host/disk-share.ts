import { fairRoom } from '../../host-protocol/fair-room.ts'

/** What pods hold of a machine's disk, for the accounts of one person (SHR-41). */
export interface DiskUse {
  totalGb: number
  /** Of the person's pods, stopped ones too. */
  heldGb: number
  /** Everything else there. */
  othersGb: number
  /** Of the machine's vCPUs those that the person's pods hold. */
  vcpusHeld: number
}

/**
 * GB of a machine's disk that one more pod of this person, with so many vCPUs, may take (SHR-41): all pods together as much as they leave to
 * others, or the part that they have of the machine's vCPUs, which they pay for. `withinDiskShare` is the same in SQL. Pure.
 */
export function diskRoom({ totalGb, heldGb, othersGb, vcpusHeld }: DiskUse, vcpus: number, vcpuTotal: number): number {
  const part = Math.min(1, (vcpusHeld + vcpus) / vcpuTotal)
  return Math.max(fairRoom(totalGb, othersGb), Math.floor(totalGb * part)) - heldGb
}

/** The same after a pod has taken its place. */
export function withPod<Use extends DiskUse>(use: Use, { diskGb, vcpus }: { diskGb: number; vcpus: number }): Use {
  return { ...use, heldGb: use.heldGb + diskGb, vcpusHeld: use.vcpusHeld + vcpus }
}
