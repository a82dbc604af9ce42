import type { Mutant } from './table.ts'

// Bugs of GraphQL: of its texts and of its limits.

const WORDS = 'src/domain/graphql/words.ts'
const ACCESS = 'src/http/graphql/access.ts'
const DOCUMENT = 'src/http/graphql/guards/document.ts'
const API = 'src/http/graphql/graphql-api.ts'

/** Killed by the unit tests of the pure rules. */
export const GRAPHQL_DOMAIN_MUTANTS: readonly Mutant[] = [
  { id: 'an empty text is an item of GraphQL', file: WORDS, find: ".filter((item) => item !== '')", replace: '' },
  {
    id: 'faults of GraphQL tell themselves',
    file: 'src/contract/problem-body.ts',
    find: 'status === PROBLEMS.internal.status || passing === undefined',
    replace: 'passing === undefined',
  },
  {
    id: 'a price of a cloud without stock',
    file: 'src/domain/graphql/catalog.ts',
    find: "found.find(({ level }) => level !== 'NONE') ?? found[0]",
    replace: 'found[0]',
  },
  {
    id: 'a CPU machine costs what one of its vCPUs does',
    file: 'src/domain/graphql/catalog.ts',
    find: 'instance?.vcpuCount ?? flavor.vcpu.min',
    replace: 'instance?.vcpuCount ?? 1',
  },
]

/** Killed by the tests of GraphQL in the Worker. */
export const GRAPHQL_WORKER_MUTANTS: readonly Mutant[] = [
  { id: 'any root field answers without a key', file: ACCESS, find: '...(isRoot && !directiveOf', replace: '...(false && !directiveOf' },
  {
    id: 'mutations after the first are free',
    file: ACCESS,
    find: 'call.mutations === 1 ? { verdict',
    replace: 'call.mutations > 0 ? { verdict',
  },
  {
    id: 'a scope for one pod opens all',
    file: ACCESS,
    find: 'boundTo === undefined ? undefined',
    replace: 'boundTo !== undefined ? undefined',
  },
  { id: 'fragments count once', file: DOCUMENT, find: 'fields + inner.fields + own', replace: 'fields + own' },
  {
    id: 'the header decides over the parameter',
    file: API,
    find: 'parameter ? `Bearer ${parameter}`',
    replace: "parameter && !c.req.header('authorization') ? `Bearer ${parameter}`",
  },
  {
    id: 'pods of one name at once',
    file: 'src/db/pods/pod-references.ts',
    find: "AND other.status <> 'TERMINATED')`",
    replace: "AND other.status = 'TERMINATED')`",
  },
  {
    id: 'brackets within brackets without end',
    file: 'src/http/graphql/guards/nesting.ts',
    find: 'depth > MAX_NESTING',
    replace: 'depth < 0',
  },
  {
    id: 'the workers of an endpoint for a key that may only write it',
    file: 'src/services/endpoints/endpoint-workers.ts',
    find: "requireScope(ctx.principal, 'serverless:read')\n  const endpoints",
    replace: "requireScope(ctx.principal, 'serverless:write')\n  const endpoints",
  },
  {
    id: 'a lowest price that looks at the number of GPUs alone',
    file: 'src/domain/availability.ts',
    find: 'gpuCompute(catalog, { id: typeId, count, ...cuda, ...least }',
    replace: 'gpuCompute(catalog, { id: typeId, count, ...cuda }',
  },
  {
    id: 'a resume reads every machine',
    file: 'src/db/hosts/capacity.ts',
    find: "and(eq(hosts.id, hostId), eq(hosts.status, 'ONLINE'))",
    replace: "eq(hosts.status, 'ONLINE')",
  },
  {
    id: 'the own key of a pod starts it with more GPUs',
    file: 'src/services/pods/resume-count.ts',
    find: "requireScope(principal, 'pods:write')",
    replace: "requireScope(principal, 'pods:write', before.id)",
  },
  {
    id: 'a pod resumes with GPUs that its machine does not have',
    file: 'src/domain/pod/place/gpu-count.ts',
    find: 'one.free + gpu.count',
    replace: 'one.free + 64',
  },
  {
    id: 'a start script without its arguments',
    file: 'src/domain/graphql/start-script.ts',
    find: 'cmd: [...entrypoint, ...cmd]',
    replace: 'cmd: []',
  },
  {
    id: 'a template of an update is not remembered',
    file: 'src/domain/endpoint/config.ts',
    find: '...(isBound && patch',
    replace: '...(!isBound && patch',
  },
]
