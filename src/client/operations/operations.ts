import { ACCOUNT_OPERATIONS } from './account.ts'
import { BILLING_OPERATIONS } from './billing.ts'
import { CATALOG_OPERATIONS } from './catalog.ts'
import { CLUSTERS_OPERATIONS } from './clusters.ts'
import { JOBS_OPERATIONS } from './jobs.ts'
import { OPERATOR_OPERATIONS } from './operator.ts'
import { OPERATOR_CATALOG_OPERATIONS } from './operator-catalog.ts'
import { ORGANIZATIONS_OPERATIONS } from './organizations.ts'
import { PODS_OPERATIONS } from './pods.ts'
import { RESOURCES_OPERATIONS } from './resources.ts'
import { SERVERLESS_OPERATIONS } from './serverless.ts'

/** All operations of the API, by their id in the documents; a test compares this table with the documents in both directions. */
export const OPERATIONS = {
  ...ACCOUNT_OPERATIONS,
  ...BILLING_OPERATIONS,
  ...CATALOG_OPERATIONS,
  ...CLUSTERS_OPERATIONS,
  ...JOBS_OPERATIONS,
  ...OPERATOR_CATALOG_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...ORGANIZATIONS_OPERATIONS,
  ...PODS_OPERATIONS,
  ...RESOURCES_OPERATIONS,
  ...SERVERLESS_OPERATIONS,
}
