/** When API v1 was retired, seconds since 1970: 15 November 2026, 0:00 UTC. */
const RETIRED_AT_SECONDS = 1_794_700_800
const DOCUMENT = '/v2/openapi.json'

/** Paths of v1 below `/v1`, and what has taken their place; `*` is one part, which stands in the other's `*` (LEG-1). The first that fits counts. */
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

/** What an id may look like to stand in a header. */
const PART = '([A-Za-z0-9_-]{1,64})'
const PATTERNS = SUCCESSORS.map(([path, successor]) => ({ pattern: new RegExp(`^/v1${path.replace('*', PART)}/?$`), successor }))

/** The path of v2 in place of one of v1; the document of v2 for paths that v1 never had. */
export function successorOf(path: string): string {
  for (const { pattern, successor } of PATTERNS) {
    const match = pattern.exec(path)
    if (match) return successor.replace('*', match[1] ?? '')
  }
  return DOCUMENT
}

/** Headers of every answer below `/v1` (LEG-3): since when it is deprecated (RFC 9745), when it ended (RFC 8594), and what is there now. */
export function retirementHeaders(path: string): Record<'Deprecation' | 'Sunset' | 'Link', string> {
  return {
    Deprecation: `@${RETIRED_AT_SECONDS}`,
    Sunset: new Date(RETIRED_AT_SECONDS * 1000).toUTCString(),
    Link: `<${successorOf(path)}>; rel="successor-version"`,
  }
}
