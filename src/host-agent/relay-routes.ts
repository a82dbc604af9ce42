/** The worker routes, by how the relay treats them while the plane is away. */
export type RelayTreatment = 'poll' | 'post' | 'ping'

const TREATMENTS: Record<string, { method: 'GET' | 'POST'; treatment: RelayTreatment }> = {
  'job-take': { method: 'GET', treatment: 'poll' },
  'job-take-batch': { method: 'GET', treatment: 'poll' },
  'job-stop': { method: 'GET', treatment: 'poll' },
  'job-done': { method: 'POST', treatment: 'post' },
  'job-stream': { method: 'POST', treatment: 'post' },
  ping: { method: 'GET', treatment: 'ping' },
}

export interface RelayRoute {
  treatment: RelayTreatment
  method: 'GET' | 'POST'
  /** Normalised path and query, to be appended to the plane's URL. */
  target: string
}

/**
 * Reads a request line; undefined for everything that is not a worker route. The path is normalised first, so that
 * `/v2/x/ping/../../y` cannot reach another route of the plane in a worker route's clothes.
 */
export function parseRelayRoute(method: string | undefined, rawUrl: string | undefined): RelayRoute | undefined {
  if (rawUrl === undefined || !rawUrl.startsWith('/v2/') || !URL.canParse(rawUrl, 'http://relay')) return undefined
  const url = new URL(rawUrl, 'http://relay')
  const verb = /^\/v2\/[^/]+\/([^/]+)\/[^/]/.exec(url.pathname)?.[1] ?? ''
  const route = Object.hasOwn(TREATMENTS, verb) ? TREATMENTS[verb] : undefined
  if (route === undefined || route.method !== method) return undefined
  return { ...route, target: url.pathname + url.search }
}
