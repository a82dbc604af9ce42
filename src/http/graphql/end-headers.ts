import type { GraphqlSettings } from '../../env.ts'

const SUCCESSOR = '</v2/openapi.json>; rel="successor-version"'

/** Since when GraphQL is deprecated (RFC 9745) and when it ends (RFC 8594), as far as the operator says so (GQL-29). */
export function endHeaders({ deprecatedAtMs, sunsetAtMs }: Pick<GraphqlSettings, 'deprecatedAtMs' | 'sunsetAtMs'>): Record<string, string> {
  return {
    ...(deprecatedAtMs !== null && { Deprecation: `@${Math.floor(deprecatedAtMs / 1000)}` }),
    ...(sunsetAtMs !== null && { Sunset: new Date(sunsetAtMs).toUTCString() }),
    ...((deprecatedAtMs ?? sunsetAtMs) !== null && { Link: SUCCESSOR }),
  }
}
