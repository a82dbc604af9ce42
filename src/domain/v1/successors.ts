/** Retirement of API v1, seconds since 1970: 15 November 2026, 0:00 UTC. */
const RETIRED_AT_SECONDS = 1_794_700_800
const DOCUMENT = '/v2/openapi.json'

/**
 * Paths of v1 below `/v1`, and their successors in v2. `*` stands for one path part, copied into the successor (LEG-1). The first match
 * counts.
 */
const SUCCESSORS: readonly (readonly [string, string])[] = [
  ['/pods/*/update', '/v2/pods/*'],
  ['/pods/*/start', '/v2/pods/*/action'],
  ['/pods/*/stop', '/v2/pods/*/action'],
  ['/pods/*/restart', '/v2/pods/*/action'],
  ['/pods/*/reset', '/v2/pods/*/action'],
  ['/pods/*', '/v2/pods/*'],
  ['/pods', '/v2/pods'],
  ['/endpoints/*/update', '/v2/serverless/*'],
  ['/endpoints/*', '/v2/serverless/*'],
  ['/endpoints', '/v2/serverless'],
  ['/templates/*/update', '/v2/templates/*'],
  ['/templates/*', '/v2/templates/*'],
  ['/templates', '/v2/templates'],
  ['/networkvolumes/*/update', '/v2/network-volumes/*'],
  ['/networkvolumes/*', '/v2/network-volumes/*'],
  ['/networkvolumes', '/v2/network-volumes'],
  ['/containerregistryauth/*', '/v2/registries/*'],
  ['/containerregistryauth', '/v2/registries'],
  ['/billing/pods', '/v2/billing/pods'],
  ['/billing/endpoints', '/v2/billing/serverless'],
  ['/billing/networkvolumes', '/v2/billing/network-volumes'],
]

/** Form of an id that is safe in a header. */
const PART = '([A-Za-z0-9_-]{1,64})'
const PATTERNS = SUCCESSORS.map(([path, successor]) => ({ pattern: new RegExp(`^/v1${path.replace('*', PART)}/?$`), successor }))

/** v2 successor of a v1 path; the v2 API description for paths that v1 never had. */
export function successorOf(path: string): string {
  for (const { pattern, successor } of PATTERNS) {
    const match = pattern.exec(path)
    if (match) return successor.replace('*', match[1] ?? '')
  }
  return DOCUMENT
}

/** Headers of every answer below `/v1` (LEG-3): deprecation (RFC 9745), sunset (RFC 8594) and successor. */
export function retirementHeaders(path: string): Record<'Deprecation' | 'Sunset' | 'Link', string> {
  return {
    Deprecation: `@${RETIRED_AT_SECONDS}`,
    Sunset: new Date(RETIRED_AT_SECONDS * 1000).toUTCString(),
    Link: `<${successorOf(path)}>; rel="successor-version"`,
  }
}
