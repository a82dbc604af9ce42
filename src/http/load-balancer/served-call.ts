/** A request to the workers of a load-balancing endpoint. */
export interface ServedCall {
  endpointId: string
  /** Path and query that the worker receives. */
  path: string
  /** Part of the plane's path before that path; null: the endpoint has its own host name. */
  prefix: string | null
}

const BELOW_PLANE = /^\/lb\/([^/]+)(\/.*)?$/

/**
 * Parses the URL of a request to a load-balancing endpoint; null if it is another URL (LB-2). Below `lbDomain`, the whole origin
 * `<endpoint>.<lbDomain>` belongs to the endpoint, and none of its paths to the plane.
 */
export function parseServedCall(url: URL, lbDomain: string | null): ServedCall | null {
  if (lbDomain !== null && url.host.endsWith(`.${lbDomain}`)) {
    return { endpointId: url.host.slice(0, -lbDomain.length - 1), path: url.pathname + url.search, prefix: null }
  }
  const [, endpointId, path = '/'] = BELOW_PLANE.exec(url.pathname) ?? []
  return endpointId === undefined ? null : { endpointId, path: path + url.search, prefix: `/lb/${endpointId}` }
}
