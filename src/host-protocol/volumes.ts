import { z } from 'zod'

/**
 * What an agent and the plane tell each other about volumes, apart from the workloads that mount them: `POST /host/v1/volumes`, asked by the
 * agent at a slow rate.
 */

/** Volumes that one request or answer names. */
export const VOLUMES_MAX = 200

const VolumeId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
const Kind = z.enum(['network', 'global'])
const Bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const VolumeRef = z.object({ kind: Kind, id: VolumeId })
export type VolumeRef = z.infer<typeof VolumeRef>

/** What a host found in the directory of a volume. */
export const VolumeUse = z.object({
  kind: Kind,
  id: VolumeId,
  bytes: Bytes,
  /** The file system lets nobody write more than the size into it (HOST-112). */
  enforced: z.boolean(),
})
export type VolumeUse = z.infer<typeof VolumeUse>

export const VolumesRequest = z.object({
  /** Kinds whose directories this agent can list, measure and remove. */
  kinds: z.array(Kind).max(2),
  /** `nowMs` of the last answer that was worked through; null: none since the agent started. */
  since: z.number().int().min(0).nullable(),
  /** Volumes of which nothing is left here. */
  wiped: z.array(VolumeRef).max(VOLUMES_MAX),
  used: z.array(VolumeUse).max(VOLUMES_MAX),
  /** Network volumes that have a directory here and whose size is asked for. */
  held: z.array(VolumeId).max(VOLUMES_MAX),
})
export type VolumesRequest = z.infer<typeof VolumesRequest>

export const VolumesResponse = z.object({
  /** The plane's clock. */
  nowMs: z.number().int(),
  /** Deleted volumes whose data is to go. */
  wipe: z.array(VolumeRef),
  /** Sizes of those that were asked for. */
  sizes: z.array(z.object({ id: VolumeId, sizeGb: z.number().int().min(1) })),
})
export type VolumesResponse = z.infer<typeof VolumesResponse>
