/** Names a protocol that is none: what stands behind it is a key in base64url. So browsers say a key, which cannot set headers of a WebSocket. */
const BEARER_PROTOCOL = /^base64url\.bearer\.authorization\.(?:podplane|k8s\.io)\.([A-Za-z0-9_-]{1,8192})$/

/** The `Authorization` of a request, or what stands for it among the protocols of a WebSocket (NET-10). */
export function authorizationOf(request: Request): string | null {
  const said = request.headers.get('authorization')
  if (said !== null || request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return said
  const key = protocolsOf(request).flatMap((name) => BEARER_PROTOCOL.exec(name)?.[1] ?? [])[0]
  if (key === undefined) return null
  try {
    return `Bearer ${atob(key.replaceAll('-', '+').replaceAll('_', '/'))}`
  } catch {
    return null
  }
}

/** Those that a client of WebSocket offers. */
export function protocolsOf(request: Request): string[] {
  return (request.headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
}
