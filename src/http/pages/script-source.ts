/**
 * Returns the `script-src` of a page of the plane: these paths of its own host only, because workloads of tenants answer on the same origin
 * (EDG-12). Without a scheme, a source has the scheme of the page. CSP has no form for an IPv6 host, so such a host is allowed as a whole
 * (`'self'`).
 */
export function scriptSource(pageUrl: string, paths: readonly string[]): string {
  const { host } = new URL(pageUrl)
  const sources = host.startsWith('[') ? ["'self'"] : paths.map((path) => host + path)
  return `script-src ${sources.join(' ')}`
}

/** Returns an asset, or 404 instead of a redirect: after a redirect a browser does not compare the path with the policy (EDG-12). */
export function notElsewhere(asset: Response): Response {
  const isElsewhere = asset.status >= 300 && asset.status <= 399 && asset.status !== 304
  return isElsewhere ? new Response(null, { status: 404 }) : asset
}
