import { z } from 'zod'
import { ResourceId, wholeNumber } from '../fields.ts'
import { form } from '../forms.ts'

/** Absolute, without control characters (MNT-5, GEN-6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const MOUNT_PATH = form(/^\/[^\u0000-\u001f\u007f]*$/, 'an absolute path such as /workspace')

/** Longest path that a file system accepts. */
const MAX_PATH_LENGTH = 4096
/** Smallest persistent mount, GB. */
const MIN_PERSISTENT_GB = 10

export const MountPath = z.string().regex(MOUNT_PATH).max(MAX_PATH_LENGTH).meta({ description: 'Absolute path inside the container.' })

export const PersistentMount = z
  .strictObject({ size: wholeNumber(MIN_PERSISTENT_GB).meta({ description: 'GB.' }), path: MountPath })
  .meta({ id: 'PersistentMount', description: "Storage of the pod's own host.", example: { size: 20, path: '/workspace' } })

export const NetworkMount = z.strictObject({ volumeId: ResourceId, path: MountPath }).meta({
  id: 'NetworkMount',
  description: "A network volume of the pod's data center.",
  example: { volumeId: '9x4m2p7v1k8h3d', path: '/data' },
})

export const GlobalMount = z
  .strictObject({ volumeId: ResourceId, path: MountPath })
  .meta({ id: 'GlobalMount', description: 'A global volume.', example: { volumeId: '3h8k1v7p2m4x9d', path: '/workspace-global' } })

export const GlobalMountRequest = z
  .strictObject({
    volumeId: ResourceId,
    path: MountPath.optional().meta({ description: 'Without it `/workspace-global`; on update the present one.' }),
  })
  .meta({ id: 'GlobalMountRequest', example: { volumeId: '3h8k1v7p2m4x9d' } })

/** At most one mount of each kind (MNT-1). */
export const PodMountsRequest = z
  .strictObject({
    persistent: PersistentMount.optional().meta({ description: 'Not on CPU pods, and not beside another kind.' }),
    network: z.array(NetworkMount).max(1).optional().meta({ description: 'At most one.' }),
    global: z.array(GlobalMountRequest).max(1).optional().meta({ description: 'At most one.' }),
  })
  .meta({
    id: 'PodMountsRequest',
    description: 'Kinds and volumes are fixed at create; paths can change, and a persistent mount can grow.',
    example: { network: [{ volumeId: '9x4m2p7v1k8h3d', path: '/data' }], global: [{ volumeId: '3h8k1v7p2m4x9d' }] },
  })
export type PodMountsRequest = z.infer<typeof PodMountsRequest>

export const PodMountsView = z
  .strictObject({
    persistent: PersistentMount.optional(),
    network: z.array(NetworkMount).max(1).optional(),
    global: z.array(GlobalMount).max(1).optional(),
  })
  .meta({ id: 'PodMounts', example: { persistent: { size: 20, path: '/workspace' } } })
export type PodMountsView = z.infer<typeof PodMountsView>
