import type { CreateEndpointRequest, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { mergeArgs } from '../resources/container.ts'
import type { TemplateConfig } from '../resources/record.ts'

/** A create body with missing fields taken from its template, once (END-2, END-8): the body's fields win, `env` merges per key. */
export function fillCreate(body: CreateEndpointRequest, template: TemplateConfig): CreateEndpointRequest {
  const { allowedCudaVersions } = template
  const seedsCuda = body.gpu !== undefined && body.gpu.allowedCudaVersions === undefined && body.gpu.minCudaVersion === undefined
  return {
    ...fillContainer(body, template),
    name: body.name ?? template.name,
    ...(body.gpu && seedsCuda && { gpu: { ...body.gpu, allowedCudaVersions } }),
  }
}

/** A PATCH body with its template applied once (END-11, POD-13): fields of neither stay, and the merged env replaces the endpoint's. */
export function fillUpdate(patch: UpdateEndpointRequest, template: TemplateConfig): UpdateEndpointRequest {
  return fillContainer(patch, template)
}

function fillContainer<Body extends UpdateEndpointRequest | CreateEndpointRequest>(body: Body, { container }: TemplateConfig): Body {
  // Contradicting fields stay as sent: a later rule refuses them (CON-3).
  const args = mergeArgs(container.args, body)
  return {
    ...body,
    ...(args !== null && { args, cmd: undefined, entrypoint: undefined }),
    image: body.image ?? container.image,
    disk: body.disk ?? container.diskGb,
    env: { ...container.env, ...body.env },
    ports: body.ports ?? container.ports,
    registry: body.registry === undefined ? container.registry : body.registry,
  }
}
