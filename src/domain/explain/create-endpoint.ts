import { CreateEndpointRequest, type UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'

/**
 * Merges a create body and a change of the endpoint that it would make into one body (WHY-12); null where no valid create says that. Pure.
 */
export function changedCreate(body: CreateEndpointRequest, patch: UpdateEndpointRequest): CreateEndpointRequest | null {
  const { minCudaVersion, ...gpu } = { ...body.gpu, ...patch.gpu }
  const changed = {
    ...body,
    ...patch,
    // An empty version in the patch clears the minimum; in a create, the field is left out.
    ...(patch.gpu && { gpu: { ...gpu, ...(minCudaVersion && { minCudaVersion }) } }),
    ...(patch.workers && { workers: { ...body.workers, ...patch.workers } }),
  }
  const read = CreateEndpointRequest.safeParse(changed)
  return read.success ? read.data : null
}
