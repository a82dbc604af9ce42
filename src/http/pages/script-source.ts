/**
 * Which scripts a page of the plane may run: these paths of its own host and no others, as tenants answer on the same origin (EDG-12). Without a
 * scheme it is the page's own. A host that the policy has no form for, an IPv6 address, is all of it allowed.
 */
export function scriptSource(pageUrl: string, paths: readonly string[]): string {
  const { host } = new URL(pageUrl)
  const sources = host.startsWith('[') ? ["'self'"] : paths.map((path) => host + path)
  return `script-src ${sources.join(' ')}`
}

/** An asset, and never a redirect: a browser does not compare the path of where a script was led to (EDG-12). */
export function notElsewhere(asset: Response): Response {
  const isElsewhere = asset.status >= 300 && asset.status <= 399 && asset.status !== 304
  return isElsewhere ? new Response(null, { status: 404 }) : asset
}
