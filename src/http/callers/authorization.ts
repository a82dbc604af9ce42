/** A WebSocket subprotocol that carries a key in base64url, because browsers cannot set headers of a WebSocket. */
const BEARER_PROTOCOL = /^base64url\.bearer\.authorization\.(?:podplane|k8s\.io)\.([A-Za-z0-9_-]{1,8192})$/

const ACCOUNT_PROTOCOL = /^account\.podplane\.([A-Za-z0-9_-]{1,64})$/

/** Returns the `Authorization` of a request, or the one that is encoded among the subprotocols of a WebSocket (NET-10). */
export function authorizationOf(request: Request): string | null {
  const said = request.headers.get('authorization')
  const key = said === null ? amongProtocols(request, BEARER_PROTOCOL) : null
  if (key === null) return said
  try {
    return `Bearer ${atob(key.replaceAll('-', '+').replaceAll('_', '/'))}`
  } catch {
    return null
  }
}

/** Returns the account that a session's WebSocket names in a subprotocol, in place of the header `X-Team-Id` (NET-10). */
export function accountAmongProtocols(request: Request): string | null {
  return amongProtocols(request, ACCOUNT_PROTOCOL)
}

function amongProtocols(request: Request, form: RegExp): string | null {
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return null
  return protocolsOf(request).flatMap((name) => form.exec(name)?.[1] ?? [])[0] ?? null
}

/** Returns the subprotocols that a WebSocket client offers. */
export function protocolsOf(request: Request): string[] {
  return (request.headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
}
