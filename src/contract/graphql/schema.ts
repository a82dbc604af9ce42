import { ABSENT } from './absent.ts'
import { ACCOUNT } from './account.ts'
import { CATALOG } from './catalog.ts'
import { CLUSTERS } from './clusters.ts'
import { DIRECTIVES } from './directives.ts'
import { ENDPOINTS } from './endpoints.ts'
import { PODS } from './pods.ts'
import { ROOTS } from './roots.ts'
import { TEMPLATES } from './templates.ts'

/** The whole GraphQL schema, the source of `docs/schema.graphql`. */
export const GRAPHQL_SCHEMA = [DIRECTIVES, ROOTS, ACCOUNT, PODS, TEMPLATES, ENDPOINTS, CATALOG, CLUSTERS, ABSENT].join('\n')
