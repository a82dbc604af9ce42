import { z } from 'zod'

/** Absolute, without control characters (MNT-5, GEN-6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const MOUNT_PATH = /^\/[^\u0000-\u001f\u007f]*$/

/** Smallest persistent mount, GB. */
const MIN_PERSISTENT_GB = 10

export const MountPath = z.string().regex(MOUNT_PATH).meta({ description: 'Absolute path inside the container.' })

export const PersistentMount = z
  .strictObject({ size: z.number().int().min(MIN_PERSISTENT_GB).meta({ description: 'GB.' }), path: MountPath })
  .meta({ id: 'PersistentMount', description: "Storage of the pod's own host.", example: { size: 20, path: '/workspace' } })
