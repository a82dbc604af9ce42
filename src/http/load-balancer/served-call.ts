/** A request to the workers of a load-balancing endpoint. */
export interface ServedCall {
  endpointId: string
  /** Path and query that the worker sees. */
  path: string
  /** What stands before that path under the plane's own address; null: the endpoint has a name of its own. */
  prefix: string | null
}

const BELOW_PLANE = /^\/lb\/([^/]+)(\/.*)?$/

/**
 * What a URL asks of a load-balancing endpoint; null when it asks for something else (LB-2). `lbDomain`: `<endpoint>.<lbDomain>` is the whole of an
 * endpoint's own origin, and no path of it is the plane's.
 */
export function parseServedCall(url: URL, lbDomain: string | null): ServedCall | null {
  if (lbDomain !== null && url.host.endsWith(`.${lbDomain}`)) {
    return { endpointId: url.host.slice(0, -lbDomain.length - 1), path: url.pathname + url.search, prefix: null }
  }
  const [, endpointId, path = '/'] = BELOW_PLANE.exec(url.pathname) ?? []
  return endpointId === undefined ? null : { endpointId, path: path + url.search, prefix: `/lb/${endpointId}` }
}
