import type { LegacySeal, Place } from '../../src/platform/seal.ts'

// Vault places of sealed values in an endpoint object.

/** The `s3Config` of one job (RUN-11). */
export function s3ConfigSealPlace(endpointId: string, jobId: string): Place {
  return ['s3Config', endpointId, jobId]
}

/** The earlier seal of an `s3Config`, which was not bound to a job. */
export function legacyS3ConfigSeal(endpointId: string): LegacySeal {
  return { info: `s3Config\n${endpointId}`, boundTo: '' }
}
