import { z } from 'zod'
import { hostText } from './host-text.ts'

/**
 * Private networks across hosts (VXLAN): what the agent of one host is told of them, and what it says about them. Their interfaces, ranges and
 * neighbours all come from here; an agent learns none by itself.
 */

/** UDP port of the tunnels between hosts. */
export const VXLAN_PORT = 4789
/** UDP port of what they are encrypted in, between hosts that both do. */
export const WIREGUARD_PORT = 51_821

/** Interface of a member in the network of its cluster, and of a pod in that of its account. */
export const CLUSTER_INTERFACE = 'ens1'
export const GLOBAL_INTERFACE = 'ens9'

const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
/** Public key of X25519, base64 in its one spelling: `wg` takes no other, and nothing at all beside one (HOST-165). */
const PublicKey = z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)
/** Bytes of a packet. */
const Mtu = z.number().int().min(576).max(65_535)
/** A name that members find each other by; dots only inside. */
const HostName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)

/** Somebody in such a network. */
export const OverlayMember = z.object({
  podId: Id,
  address: z.ipv4(),
  /** Where its host is reached by other hosts; null: not known, or the host has gone. */
  hostAddress: z.union([z.ipv4(), z.ipv6()]).nullable(),
  names: z.array(HostName).max(8),
})
export type OverlayMember = z.infer<typeof OverlayMember>

/** A host of such a network, as far as others need to know more than its address. */
export const OverlayHost = z.object({ address: z.union([z.ipv4(), z.ipv6()]), publicKey: PublicKey })
export type OverlayHost = z.infer<typeof OverlayHost>

export const Overlay = z.object({
  id: Id,
  vni: z.number().int().min(1).max(16_777_215),
  /** `10.64.3.0/24`; the first address of a member is the second of the range. */
  cidr: z.string().regex(/^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/),
  /** Names of members are found below it; absent: the plane is too old to say so. */
  domain: HostName.optional(),
  /** Those of all hosts, this one's too. */
  members: z.array(OverlayMember).max(4_096),
  /** Hosts to which tunnels lead encrypted, where this one encrypts too. */
  hosts: z.array(OverlayHost).max(4_096).optional(),
  /** The largest packet that the tunnels of all its hosts carry; absent: not known. */
  mtu: Mtu.optional(),
  /**
   * Asks whether every member of this host reaches all the others; another number asks again. Absent: nobody asks.
   */
  check: z.number().int().min(1).optional(),
})
export type Overlay = z.infer<typeof Overlay>

/** A workload's interface in such a network. */
export const OverlayPlace = z.object({ id: Id, address: z.ipv4(), interface: z.string().regex(/^[a-z][a-z0-9]{1,14}$/) })
export type OverlayPlace = z.infer<typeof OverlayPlace>

/** A file that the platform writes into a container. */
export const WorkloadFile = z.object({
  path: z
    .string()
    .regex(/^\/[A-Za-z0-9._/-]{1,255}$/)
    .refine((path) => !path.split('/').includes('..')),
  /** Base64. */
  content: z.string().max(262_144),
  /** Permission bits, such as 0o400. */
  mode: z.number().int().min(0).max(0o777),
  /** Name of the user that it belongs to, where the image has that user; absent: root. */
  owner: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/)
    .optional(),
})
export type WorkloadFile = z.infer<typeof WorkloadFile>

/** What a host says of its part in private networks. */
export const OverlayInventory = z.object({
  /** Where other hosts reach its tunnels; null: it can build none, and `reason` says why. */
  address: z.union([z.ipv4(), z.ipv6()]).nullable(),
  reason: hostText(300).nullable(),
  /** What keeps others from reading what goes between hosts. */
  encryption: z.enum(['none', 'ipsec', 'wireguard']),
  /** Why nothing does, where that is so. */
  encryptionReason: hostText(300).optional(),
  /** With it, tunnels of others are encrypted for this host. */
  publicKey: PublicKey.optional(),
  /** The largest packet of members that its tunnels carry. */
  mtu: Mtu.optional(),
})
export type OverlayInventory = z.infer<typeof OverlayInventory>

/** Two members of which the first does not reach the second. */
export const OverlayGap = z.object({ from: Id, to: Id, reason: hostText(300) })
export type OverlayGap = z.infer<typeof OverlayGap>

/** The answer to an `Overlay`'s `check`, for the members of the host that gives it; repeated until acknowledged with 200. */
export const OverlayReport = z.object({
  overlayId: Id,
  check: z.number().int().min(1),
  /** Members of this host that reach all the others. */
  ready: z.array(Id).max(256),
  gaps: z.array(OverlayGap).max(64),
})
export type OverlayReport = z.infer<typeof OverlayReport>

export const OverlaysRequest = z.object({ reports: z.array(OverlayReport).min(1).max(64) })
export type OverlaysRequest = z.infer<typeof OverlaysRequest>
