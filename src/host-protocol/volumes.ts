import { z } from 'zod'

/**
 * Messages about volumes between an agent and the plane, apart from the workloads that mount them: `POST /host/v1/volumes`, sent by the
 * agent at a slow rate.
 */

/** Maximum number of volumes in one list of a request or answer. */
export const VOLUMES_MAX = 200

const VolumeId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
const Kind = z.enum(['network', 'global'])
const Bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const VolumeRef = z.object({ kind: Kind, id: VolumeId })
export type VolumeRef = z.infer<typeof VolumeRef>

/** The use that a host has measured for a volume. */
export const VolumeUse = z.object({
  kind: Kind,
  id: VolumeId,
  bytes: Bytes,
  /** Whether the file system refuses writes above the volume's size (HOST-112). */
  enforced: z.boolean(),
})
export type VolumeUse = z.infer<typeof VolumeUse>

export const VolumesRequest = z.object({
  /** Kinds whose directories this agent can list, measure and remove. */
  kinds: z.array(Kind).max(2),
  /** `nowMs` of the last answer that was carried out completely; null: none since the agent started. */
  since: z.number().int().min(0).nullable(),
  /** Volumes that are completely removed here. */
  wiped: z.array(VolumeRef).max(VOLUMES_MAX),
  used: z.array(VolumeUse).max(VOLUMES_MAX),
  /** Network volumes that have a directory here and whose size is requested. */
  held: z.array(VolumeId).max(VOLUMES_MAX),
})
export type VolumesRequest = z.infer<typeof VolumesRequest>

export const VolumesResponse = z.object({
  /** The plane's clock. */
  nowMs: z.number().int(),
  /** Deleted volumes whose data must be removed. */
  wipe: z.array(VolumeRef),
  /** Sizes of the volumes in `held`. */
  sizes: z.array(z.object({ id: VolumeId, sizeGb: z.number().int().min(1) })),
})
export type VolumesResponse = z.infer<typeof VolumesResponse>
