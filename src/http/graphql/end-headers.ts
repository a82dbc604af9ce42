import type { GraphqlSettings } from '../../env.ts'

const SUCCESSOR = '</v2/openapi.json>; rel="successor-version"'

/** Returns `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) headers for GraphQL, as far as the operator has set dates (GQL-29). */
export function endHeaders({ deprecatedAtMs, sunsetAtMs }: Pick<GraphqlSettings, 'deprecatedAtMs' | 'sunsetAtMs'>): Record<string, string> {
  return {
    ...(deprecatedAtMs !== null && { Deprecation: `@${Math.floor(deprecatedAtMs / 1000)}` }),
    ...(sunsetAtMs !== null && { Sunset: new Date(sunsetAtMs).toUTCString() }),
    ...((deprecatedAtMs ?? sunsetAtMs) !== null && { Link: SUCCESSOR }),
  }
}
