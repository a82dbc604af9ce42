import { z } from 'zod'

/** Example of a host that takes part in networks across hosts. */
export const PRIVATE_NETWORKS = {
  address: '10.1.2.3',
  reason: null,
  encryption: 'wireguard',
  encryptionReason: null,
  mtu: 1_370,
} as const

/** A host's part in private networks across hosts, as reported by its agent (HOST-163). */
export const HostPrivateNetworks = z
  .object({
    address: z.string().nullable().meta({ description: 'Address at which other hosts reach its tunnels; null: it does not take part.' }),
    reason: z.string().nullable().meta({ description: 'Why it does not take part.' }),
    encryption: z.enum(['none', 'ipsec', 'wireguard']).meta({ description: 'Encryption of the traffic between hosts.' }),
    encryptionReason: z.string().nullable().meta({ description: 'Why the traffic is not encrypted.' }),
    mtu: z.number().int().nullable().meta({ description: 'Largest packet of members that its tunnels carry, in bytes; null: unknown.' }),
  })
  .meta({ id: 'HostPrivateNetworks', example: PRIVATE_NETWORKS })
