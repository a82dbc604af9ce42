import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GRAPHQL_SCHEMA } from '../src/contract/graphql/schema.ts'
import { adminDocument } from '../src/http/admin-api.ts'
import { consoleDocument } from '../src/http/console/console-api.ts'
import { restDocument } from '../src/http/rest-api.ts'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// Writes the documents that the plane serves, so that API changes appear in review. A test compares them with the code.
const SCHEMA = 'docs/schema.graphql'
const DOCUMENTS = {
  'docs/openapi-v2.json': restDocument,
  'docs/openapi-admin-v1.json': adminDocument,
  'docs/openapi-console.json': consoleDocument,
}
for (const [file, document] of Object.entries(DOCUMENTS)) {
  writeFileSync(join(PROJECT_ROOT, file), `${JSON.stringify(document(), null, 2)}\n`)
  console.log(`wrote ${file}`)
}
writeFileSync(join(PROJECT_ROOT, SCHEMA), GRAPHQL_SCHEMA)
console.log(`wrote ${SCHEMA}`)
