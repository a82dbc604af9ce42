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
    address: z.string().nullable().meta({ description: 'Where other hosts reach its tunnels; null: it takes no part.' }),
    reason: z.string().nullable().meta({ description: 'Why it takes none.' }),
    encryption: z.enum(['none', 'ipsec', 'wireguard']).meta({ description: 'What keeps others from reading what goes between hosts.' }),
    encryptionReason: z.string().nullable().meta({ description: 'Why nothing does.' }),
    mtu: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'The largest packet of members that its tunnels carry, in bytes; null: not known.' }),
  })
  .meta({ id: 'HostPrivateNetworks', example: PRIVATE_NETWORKS })
