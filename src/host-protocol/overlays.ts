import { z } from 'zod'
import { hostText } from './host-text.ts'

/**
 * Private networks across hosts (VXLAN): the plane's messages to an agent about them, and the agent's reports. All interfaces, ranges and
 * neighbours come from these messages; an agent discovers none itself.
 */

/** UDP port of the tunnels between hosts. */
export const VXLAN_PORT = 4789
/** UDP port of the encryption of these tunnels, between hosts that both support it. */
export const WIREGUARD_PORT = 51_821

/** Interface of a cluster member in its cluster's network, and of a pod in its account's network. */
export const CLUSTER_INTERFACE = 'ens1'
export const GLOBAL_INTERFACE = 'ens9'

const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
/** X25519 public key in canonical base64: `wg` rejects any other form, and then its whole input (HOST-165). */
const PublicKey = z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)
/** Maximum packet size in bytes. */
const Mtu = z.number().int().min(576).max(65_535)
/** A host name of a member; dots only inside. */
const HostName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)

/** A member of such a network. */
export const OverlayMember = z.object({
  podId: Id,
  address: z.ipv4(),
  /** Address of its host for other hosts; null: unknown, or the host is gone. */
  hostAddress: z.union([z.ipv4(), z.ipv6()]).nullable(),
  names: z.array(HostName).max(8),
})
export type OverlayMember = z.infer<typeof OverlayMember>

/** A host of such a network with its encryption key. */
export const OverlayHost = z.object({ address: z.union([z.ipv4(), z.ipv6()]), publicKey: PublicKey })
export type OverlayHost = z.infer<typeof OverlayHost>

export const Overlay = z.object({
  id: Id,
  vni: z.number().int().min(1).max(16_777_215),
  /** Such as `10.64.3.0/24`; the first address of a member is the second of the range. */
  cidr: z.string().regex(/^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/),
  /** DNS domain of the members' names; absent: an older plane does not send it. */
  domain: HostName.optional(),
  /** Members on all hosts, including this one. */
  members: z.array(OverlayMember).max(4_096),
  /** Hosts to which tunnels are encrypted, if this host encrypts too. */
  hosts: z.array(OverlayHost).max(4_096).optional(),
  /** The largest packet that the tunnels of all its hosts carry; absent: unknown. */
  mtu: Mtu.optional(),
  /** Requests a check whether every member of this host reaches all the others; a new number requests a new check. Absent: no check. */
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
  /** Name of the owning user, if the image has that user; absent: root. */
  owner: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/)
    .optional(),
})
export type WorkloadFile = z.infer<typeof WorkloadFile>

/** Capabilities of a host for private networks. */
export const OverlayInventory = z.object({
  /** Address of its tunnels for other hosts; null: it can build none, for the given `reason`. */
  address: z.union([z.ipv4(), z.ipv6()]).nullable(),
  reason: hostText(300).nullable(),
  /** Encryption of the traffic between hosts. */
  encryption: z.enum(['none', 'ipsec', 'wireguard']),
  /** The reason when there is no encryption. */
  encryptionReason: hostText(300).optional(),
  /** Key with which other hosts encrypt tunnels to this one. */
  publicKey: PublicKey.optional(),
  /** The largest packet of members that its tunnels carry. */
  mtu: Mtu.optional(),
})
export type OverlayInventory = z.infer<typeof OverlayInventory>

/** Two members of which the first does not reach the second. */
export const OverlayGap = z.object({ from: Id, to: Id, reason: hostText(300) })
export type OverlayGap = z.infer<typeof OverlayGap>

/** The result of an `Overlay`'s `check` for the members of the reporting host; repeated until acknowledged with 200. */
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
