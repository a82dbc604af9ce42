import { CreateEndpointRequest, type UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'

/** A create with a change of the endpoint that it would make, as one body (WHY-12); null where no create says that. Pure. */
export function changedCreate(body: CreateEndpointRequest, patch: UpdateEndpointRequest): CreateEndpointRequest | null {
  const { minCudaVersion, ...gpu } = { ...body.gpu, ...patch.gpu }
  const changed = {
    ...body,
    ...patch,
    // An empty version takes one back, which a create simply leaves out.
    ...(patch.gpu && { gpu: { ...gpu, ...(minCudaVersion && { minCudaVersion }) } }),
    ...(patch.workers && { workers: { ...body.workers, ...patch.workers } }),
  }
  const read = CreateEndpointRequest.safeParse(changed)
  return read.success ? read.data : null
}
