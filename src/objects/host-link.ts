import type { Env } from '../env.ts'
import type { Owned } from './owned.ts'
import { hostStub } from './stubs.ts'

const HOST_HEADER = 'x-podplane-host'

/** Opens the link of an agent whose access token has been checked; whatever the agent put into the header itself is replaced. */
export function openHostLink(env: Env, host: Owned<'host'>, request: Request): Promise<Response> {
  const headers = new Headers(request.headers)
  headers.set(HOST_HEADER, host.id)
  return hostStub(env, host).fetch(new Request(request, { headers }))
}

/** The host whose link it is. Only `openHostLink` calls the object, so the header can be believed there. */
export function hostOfLink(request: Request): string {
  return request.headers.get(HOST_HEADER) ?? ''
}
