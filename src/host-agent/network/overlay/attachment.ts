import type { OverlayPlace } from '../../../host-protocol/overlays.ts'

/** A container that has interfaces in private networks. */
export interface Attachment {
  workloadId: string
  places: readonly OverlayPlace[]
  /** A process with the container's network. */
  pid: number
  /** Where it speaks from in the network of its account. */
  addresses: readonly string[]
  /** The file of names that the container has; null: it is not to be seen from here. */
  hostsPath: string | null
}
