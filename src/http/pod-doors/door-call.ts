/** A request to an HTTP port of a pod. */
export interface DoorCall {
  podId: string
  port: number
  /** Path and query that the pod sees. */
  path: string
  /** What stands before that path under the plane's own address; null: the port has a name of its own. */
  prefix: string | null
}

const OWN_NAME = /^([a-z0-9]{1,64})-([1-9]\d{0,4})$/
const BELOW_PLANE = /^\/proxy\/([^/]+)\/([1-9]\d{0,4})(\/.*)?$/

/**
 * What a URL asks of a pod; null when it asks for something else (NET-1). `domain`: `<pod>-<port>.<domain>` is the whole of a port's own origin,
 * and no path of it is the plane's. What stands there and is no such name leads to no pod.
 */
export function parseDoorCall(url: URL, domain: string | null): DoorCall | null {
  if (domain !== null && url.host.endsWith(`.${domain}`)) {
    const [, podId = '', port = '0'] = OWN_NAME.exec(url.host.slice(0, -domain.length - 1)) ?? []
    return { podId, port: Number(port), path: url.pathname + url.search, prefix: null }
  }
  const [, podId, port = '0', path = '/'] = BELOW_PLANE.exec(url.pathname) ?? []
  return podId === undefined ? null : { podId, port: Number(port), path: path + url.search, prefix: `/proxy/${podId}/${port}` }
}
