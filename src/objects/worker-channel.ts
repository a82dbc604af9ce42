import type { Env } from '../env.ts'
import type { Owned } from './owned.ts'
import { endpointStub } from './stubs.ts'

const CHANNEL_URL = 'https://endpoint/channel'

/** A request for a worker channel. */
export interface ChannelCall {
  endpointId: string
  hostId: string
  /** A worker whose key the host has shown. */
  workerId: string
}

/**
 * Opens the channel of a host to an endpoint: the host's access token has been checked, and the key of one of the endpoint's workers. The
 * object checks that the worker is on that host.
 */
export function openWorkerChannel(env: Env, endpoint: Owned<'endpoint'>, host: Owned<'host'>, workerId: string): Promise<Response> {
  const url = new URL(CHANNEL_URL)
  url.search = new URLSearchParams({ endpoint: endpoint.id, host: host.id, worker: workerId }).toString()
  return endpointStub(env, endpoint).fetch(new Request(url, { headers: { upgrade: 'websocket' } }))
}

/** Parses such a request; null for any other. Only the Worker calls the object, and the job API has other paths. */
export function parseChannelCall(url: URL): ChannelCall | null {
  if (url.pathname !== '/channel') return null
  const of = (name: string) => url.searchParams.get(name) ?? ''
  return { endpointId: of('endpoint'), hostId: of('host'), workerId: of('worker') }
}
