import type { FormerSeal, Place } from '../../src/platform/seal.ts'

// Where an endpoint object keeps what is sealed.

/** The `s3Config` of one job (PP-73). */
export function s3ConfigPlace(endpointId: string, jobId: string): Place {
  return ['s3Config', endpointId, jobId]
}

/** How it was sealed when it was bound to no job. */
export function formerS3ConfigSeal(endpointId: string): FormerSeal {
  return { info: `s3Config\n${endpointId}`, boundTo: '' }
}
