import type { OverlayPlace } from '../../../host-protocol/overlays.ts'

/** A container with interfaces in private networks. */
export interface Attachment {
  workloadId: string
  places: readonly OverlayPlace[]
  /** Id of a process in the container's network. */
  pid: number
  /** Its addresses in the network of its account. */
  addresses: readonly string[]
  /** Path of the container's `/etc/hosts`; null: it is not accessible from here. */
  hostsPath: string | null
}
