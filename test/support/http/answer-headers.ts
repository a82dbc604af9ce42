/** The headers registered for HTTP and used by browsers that act for an origin, an account or a reverse proxy. */
export const SPOKEN_FOR_OTHERS: readonly string[] = [
  ...['NEL', 'Report-To', 'Reporting-Endpoints', 'Set-Cookie', 'Clear-Site-Data', 'Service-Worker-Allowed', 'Strict-Transport-Security'],
  ...['Alt-Svc', 'Accept-CH', 'Critical-CH', 'Origin-Trial', 'Origin-Agent-Cluster', 'Sec-Session-Registration', 'Refresh'],
  ...['WWW-Authenticate', 'Authentication-Info', 'Set-Login', 'Speculation-Rules', 'Supports-Loading-Mode', 'Use-As-Dictionary', 'Link'],
  ...['Public-Key-Pins', 'Expect-CT', 'Observe-Browsing-Topics', 'Attribution-Reporting-Register-Source', 'Activate-Storage-Access'],
  ...['Access-Control-Allow-Credentials', 'Cross-Origin-Opener-Policy', 'Cross-Origin-Embedder-Policy', 'Cross-Origin-Resource-Policy'],
  ...['Permissions-Policy', 'Document-Policy', 'Proxy-Authenticate', 'SourceMap', 'X-SourceMap', 'Server-Timing', 'Timing-Allow-Origin'],
  ...['X-DNS-Prefetch-Control', 'X-Permitted-Cross-Domain-Policies', 'Content-Security-Policy-Report-Only'],
  ...['X-Accel-Redirect', 'X-Accel-Buffering', 'X-Sendfile', 'X-Account-Id', 'X-Podplane-Failure', 'A-Header-Of-Next-Year'],
]

/** Headers about one answer, and headers of an application itself. */
export const OF_ONE_ANSWER: readonly string[] = [
  ...['Content-Type', 'ETag', 'Access-Control-Allow-Origin', 'Location', 'X-Request-Cost', 'Sec-WebSocket-Protocol', 'Retry-After'],
]
