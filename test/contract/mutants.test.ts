import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { AGENT_MUTANTS } from '../mutants/agent.ts'
import { BILLING_DOMAIN_MUTANTS, BILLING_WORKER_MUTANTS } from '../mutants/billing.ts'
import { CLI_MUTANTS } from '../mutants/cli.ts'
import { CLUSTER_DOMAIN_MUTANTS, CLUSTER_WORKER_MUTANTS } from '../mutants/clusters.ts'
import { CONSOLE_DOMAIN_MUTANTS, CONSOLE_WORKER_MUTANTS } from '../mutants/console.ts'
import { DOOR_AGENT_MUTANTS, DOOR_WORKER_MUTANTS } from '../mutants/doors.ts'
import { ENDPOINT_MUTANTS, ENGINE_MUTANTS } from '../mutants/engine.ts'
import { GRAPHQL_DOMAIN_MUTANTS, GRAPHQL_WORKER_MUTANTS } from '../mutants/graphql.ts'
import { HOST_DOMAIN_MUTANTS, HOST_OBJECT_MUTANTS } from '../mutants/hosts.ts'
import { POD_CORE_DOMAIN_MUTANTS, POD_CORE_OBJECT_MUTANTS } from '../mutants/pod-core.ts'
import { POD_DOMAIN_MUTANTS, POD_WORKER_MUTANTS } from '../mutants/pods.ts'
import { QUEUE_DOMAIN_MUTANTS, QUEUE_OBJECT_MUTANTS } from '../mutants/queue.ts'
import { RESOURCE_DOMAIN_MUTANTS, RESOURCE_WORKER_MUTANTS } from '../mutants/resources.ts'
import { REST_DOMAIN_MUTANTS, REST_WORKER_MUTANTS } from '../mutants/rest.ts'
import { STATEMENT_MUTANTS } from '../mutants/statements.ts'
import { SUBMIT_DOMAIN_MUTANTS, SUBMIT_OBJECT_MUTANTS } from '../mutants/submissions.ts'
import { DOMAIN_MUTANTS, OBJECT_MUTANTS } from '../mutants/table.ts'

const ROOT = fileURLToPath(import.meta.resolve('../../'))
const ALL = [
  ...DOMAIN_MUTANTS,
  ...QUEUE_DOMAIN_MUTANTS,
  ...SUBMIT_DOMAIN_MUTANTS,
  ...RESOURCE_DOMAIN_MUTANTS,
  ...REST_DOMAIN_MUTANTS,
  ...GRAPHQL_DOMAIN_MUTANTS,
  ...GRAPHQL_WORKER_MUTANTS,
  ...BILLING_DOMAIN_MUTANTS,
  ...CLUSTER_DOMAIN_MUTANTS,
  ...CLUSTER_WORKER_MUTANTS,
  ...HOST_DOMAIN_MUTANTS,
  ...HOST_OBJECT_MUTANTS,
  ...POD_DOMAIN_MUTANTS,
  ...POD_CORE_DOMAIN_MUTANTS,
  ...POD_CORE_OBJECT_MUTANTS,
  ...OBJECT_MUTANTS,
  ...QUEUE_OBJECT_MUTANTS,
  ...SUBMIT_OBJECT_MUTANTS,
  ...RESOURCE_WORKER_MUTANTS,
  ...REST_WORKER_MUTANTS,
  ...BILLING_WORKER_MUTANTS,
  ...AGENT_MUTANTS,
  ...CONSOLE_DOMAIN_MUTANTS,
  ...CONSOLE_WORKER_MUTANTS,
  ...CLI_MUTANTS,
  ...DOOR_AGENT_MUTANTS,
  ...DOOR_WORKER_MUTANTS,
  ...ENGINE_MUTANTS,
  ...ENDPOINT_MUTANTS,
  ...POD_WORKER_MUTANTS,
  ...STATEMENT_MUTANTS,
]

test.each(ALL)('planted bug "$id" still has its place in the sources', ({ file, find }) => {
  expect(readFileSync(`${ROOT}${file}`, 'utf8').split(find)).toHaveLength(2)
})

test('planted bugs have names of their own', () => {
  expect(new Set(ALL.map((mutant) => mutant.id)).size).toBe(ALL.length)
})
