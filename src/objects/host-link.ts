import type { Env } from '../env.ts'
import type { Owned } from './owned.ts'
import { hostStub } from './stubs.ts'

const HOST_HEADER = 'x-podplane-host'
const ADDRESS_HEADER = 'x-podplane-address'

/** Opens the link of an agent whose access token has been checked; replaces these headers of the agent's request. */
export function openHostLink(env: Env, host: Owned<'host'>, request: Request, address: string | null): Promise<Response> {
  const headers = new Headers(request.headers)
  headers.set(HOST_HEADER, host.id)
  headers.set(ADDRESS_HEADER, address ?? '')
  return hostStub(env, host).fetch(new Request(request, { headers }))
}

/** The host of a link. Only `openHostLink` calls the object, so the header can be trusted. */
export function hostOfLink(request: Request): string {
  return request.headers.get(HOST_HEADER) ?? ''
}

/** Address that the link comes from, if known. */
export function addressOfLink(request: Request): string | null {
  return request.headers.get(ADDRESS_HEADER) || null
}
