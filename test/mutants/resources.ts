import type { Mutant } from './table.ts'

// Bugs of the resources that pods refer to: volumes, templates, registry credentials, data centers.

const VOLUME = 'src/domain/resources/network-volume.ts'
const TEMPLATE = 'src/domain/resources/template.ts'
const CENTERS = 'src/domain/catalog/data-centers.ts'

const AVAILABILITY = 'src/domain/availability.ts'
const CATALOG = 'src/domain/catalog/catalog.ts'
const STORAGE = 'src/domain/catalog/storage.ts'

const FILL = 'src/domain/endpoint/template.ts'
const REFERENCES = 'src/domain/resources/secret-references.ts'
const SECRETS = 'src/db/resources/secrets.ts'

/** Killed by the unit tests of the pure rules. */
export const RESOURCE_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'a volume of v1 is smaller than v2 has any',
    file: 'src/domain/flat/container.ts',
    find: 'Math.max(sizeGb, MIN_PERSISTENT_GB)',
    replace: 'sizeGb',
  },
  {
    id: 'a plan names everything, however much there is',
    file: 'src/domain/plan/effect.ts',
    find: 'others.slice(MAX_NAMED)',
    replace: 'others.slice(others.length)',
  },
  {
    id: 'a plan forgets what a query has counted and not named',
    file: 'src/domain/plan/effect.ts',
    find: 'const more = total - first.length',
    replace: 'const more = 0',
  },
  {
    id: 'defaults of v1 win over a template',
    file: 'src/domain/v1/pods.ts',
    find: 'if (body.templateId) return given',
    replace: 'if (!body) return given',
  },
  {
    id: 'any host that ends like a registry of ECR is one',
    file: 'src/domain/resources/ecr.ts',
    find: 'const ECR_HOST = new RegExp(`^(',
    replace: 'const ECR_HOST = new RegExp(`(',
  },
  {
    id: 'a stop of what is idle takes what nobody knows about',
    file: 'src/domain/plan/stop.ts',
    find: 'ms !== null && ms <= nowMs - idleForMs',
    replace: 'ms === null || ms <= nowMs - idleForMs',
  },
  {
    id: 'the spend limit stops locked pods',
    file: 'src/domain/billing/spend-watch.ts',
    find: '!locked && savesNanosPerHour > 0',
    replace: 'savesNanosPerHour > 0',
  },
  {
    id: 'an account sets a limit above what the operator lets it spend',
    file: 'src/domain/billing/spend.ts',
    find: 'Math.min(settings.microsPerHour ?? hourCeiling, hourCeiling)',
    replace: 'settings.microsPerHour ?? hourCeiling',
  },
  {
    id: 'workers run where no volume of theirs lies',
    file: 'src/domain/endpoint/volumes.ts',
    find: 'dataCenterIds.filter((id) => volumeAt[id] !== undefined)',
    replace: 'dataCenterIds',
  },
  { id: 'an unknown secret is its name', file: REFERENCES, find: "values.get(name) ?? ''", replace: 'values.get(name) ?? name' },
  {
    id: 'secrets make a variable of any length',
    file: REFERENCES,
    find: 'if (bytes > MAX_VARIABLE_BYTES)',
    replace: 'if (bytes > MAX_ENV_BYTES)',
  },
  {
    id: 'a part of a secret ends inside a character',
    file: 'src/domain/text/split-text.ts',
    find: '& CONTINUATION_MASK) === CONTINUATION',
    replace: '& CONTINUATION_MASK) === 1',
  },
  {
    id: 'an image leads out of its folder',
    file: 'src/contract/image-reference.ts',
    find: "(?:\\\\.|_|__|-+)[a-z0-9]+)*'",
    replace: "(?:\\\\.|_|__|-+|/\\\\.\\\\./)[a-z0-9]+)*'",
  },
  {
    id: 'image names of any length',
    file: 'src/contract/image-reference.ts',
    find: 'name.length <= MAX_NAME_LENGTH && ',
    replace: '',
  },
  { id: 'a volume shrinks', file: VOLUME, find: 'sizeGb < volume.sizeGb', replace: 'sizeGb < 0' },
  {
    id: 'the template wins over the body',
    file: FILL,
    find: '{ ...container.env, ...body.env }',
    replace: '{ ...body.env, ...container.env }',
  },
  { id: 'a CUDA floor is joined by a set', file: FILL, find: ' && body.gpu.minCudaVersion === undefined', replace: '' },
  { id: 'a volume may not keep its size', file: VOLUME, find: 'sizeGb < volume.sizeGb', replace: 'sizeGb <= volume.sizeGb' },
  { id: 'any data center has every type', file: VOLUME, find: '!dataCenter.networkVolumeTypes.includes(type)', replace: 'false' },
  { id: 'a credential is shown to others', file: TEMPLATE, find: 'container: { ...rest, registry: null } }', replace: 'container: rest }' },
  {
    id: 'an empty mounts object keeps the mount',
    file: TEMPLATE,
    find: 'patch.mounts === undefined',
    replace: '!patch.mounts?.persistent',
  },
  { id: 'what is counted is not taken', file: AVAILABILITY, find: 'free: one.free - gpu.count', replace: 'free: one.free' },
  { id: 'three placements are many', file: AVAILABILITY, find: 'const MEDIUM_FROM = 4', replace: 'const MEDIUM_FROM = 3' },
  {
    id: 'a part of a word is suggested before the word',
    file: 'src/domain/catalog/unknown.ts',
    find: 'whole.length > 0 ? whole : within',
    replace: 'within',
  },
  { id: 'what is withdrawn is sold', file: CATALOG, find: 'if (!type.offered) return null', replace: '' },
  { id: 'a volume has one price', file: STORAGE, find: 'const FIRST_TIER_GB = 1_000', replace: 'const FIRST_TIER_GB = 100_000' },
  { id: 'four fast data centers', file: CENTERS, find: 'storage < HIGH_PERFORMANCE_COUNT', replace: 'storage <= HIGH_PERFORMANCE_COUNT' },
]

const USERS = 'src/db/resources/resource-users.ts'
const DELETE = 'src/db/resources/delete-unused.ts'
const TEMPLATES = 'src/db/resources/templates.ts'
const REGISTRY_LOGIN = 'src/effects/registry-login.ts'

/** Killed by the tests against the real Worker. */
export const RESOURCE_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'creates at once pass the spend limit together',
    file: 'src/db/pods/pods.ts',
    find: 'spend: withinSpend(teamId, spend),\n  }\n  const allocate',
    replace: 'spend: sql`TRUE`,\n  }\n  const allocate',
  },
  {
    id: 'a secret that is being written is shown',
    file: SECRETS,
    find: 'gt(secrets.version, UNPUBLISHED)',
    replace: 'gt(secrets.version, UNPUBLISHED - 1)',
  },
  {
    id: 'a rotated secret keeps its former value',
    file: SECRETS,
    find: '[point, ...together, removeFormer]',
    replace: '[point, ...together]',
  },
  {
    id: 'a secret of another account is filled in',
    file: SECRETS,
    find: 'published(teamId), sql`${secrets.name} IN',
    replace: 'gt(secrets.version, 0), sql`${secrets.name} IN',
  },
  {
    id: 'a rotated secret reaches what runs',
    file: 'durable-objects/host/pods/pod-workloads.ts',
    find: 'if (former) return { ok: true',
    replace: "if (former && container.desired !== 'running') return { ok: true",
  },
  {
    id: 'a page of templates without bound',
    file: 'src/services/resources/templates.ts',
    find: 'const MAX_PAGE_BYTES = 8 *',
    replace: 'const MAX_PAGE_BYTES = 800 *',
  },
  {
    id: 'any template makes an endpoint',
    file: 'src/services/resources/templates.ts',
    find: 'if (template.serverless === serverless)',
    replace: 'if (template)',
  },
  { id: 'what is in use can be deleted', file: DELETE, find: 'and(owned, isSame, not(used))', replace: 'and(owned, isSame)' },
  { id: 'a deletion is not held to what was seen', file: DELETE, find: 'and(owned, isSame, not(used))', replace: 'and(owned, not(used))' },
  { id: 'terminated pods hold what they used', file: USERS, find: ", ne(pods.status, 'TERMINATED')", replace: '' },
  {
    id: "strangers' pods hold a template",
    file: USERS,
    find: 'and(eq(pods.teamId, teamId), eq(column, id)',
    replace: 'and(eq(column, id)',
  },
  { id: 'deleted endpoints hold what they named', file: USERS, find: ', isNull(endpoints.deletedAt)', replace: '' },
  {
    id: "anybody's private template can be read",
    file: TEMPLATES,
    find: ', eq(templates.isPublic, true))))',
    replace: ', eq(templates.id, id))))',
  },
  { id: 'a renamed template takes a name twice', file: TEMPLATES, find: 'other.name = ${name}', replace: 'other.name = ${id}' },
  {
    id: 'a lost race overwrites',
    file: TEMPLATES,
    find: 'and(ownedBy(teamId, id), eq(templates.revision, revision))',
    replace: 'ownedBy(teamId, id)',
  },
  { id: 'no bound on the resources of an account', file: 'src/db/bounds.ts', find: ') < ${MAX_RESOURCES_PER_TEAM}`', replace: ') >= 0`' },
  {
    id: 'a sealed text is bound to no place',
    file: 'src/platform/seal.ts',
    find: 'cipher.setAAD(encoder.encode(JSON.stringify(place)))',
    replace: "cipher.setAAD(encoder.encode(''))",
  },
  {
    id: 'a plane without its secret serves',
    file: 'src/platform/seal.ts',
    find: 'value.length >= MIN_SECRET_LENGTH) return',
    replace: 'value.length >= 0) return',
  },
  {
    id: 'a sealed text opens in another row',
    file: REGISTRY_LOGIN,
    find: "['registries', id, field, teamId]",
    replace: "['registries', field, teamId]",
  },
  {
    id: 'a sealed text opens in another field',
    file: REGISTRY_LOGIN,
    find: "['registries', id, field, teamId]",
    replace: "['registries', id, teamId]",
  },
  {
    id: 'a credential opens for any account',
    file: 'src/db/resources/registries.ts',
    find: 'and(eq(registries.teamId, teamId), eq(registries.id, id))',
    replace: 'eq(registries.id, id)',
  },
  {
    id: 'a credential goes to whatever registry an image names',
    file: REGISTRY_LOGIN,
    find: 'if (row.host !== null && row.host !== host) {',
    replace: 'if (row.host === host && row.teamId !== teamId) {',
  },
  {
    id: 'a retired API is served unasked',
    file: 'src/env.ts',
    find: "v1Adapter: env.V1_ADAPTER === '1'",
    replace: "v1Adapter: env.V1_ADAPTER !== '0'",
  },
  {
    id: 'a key of v1 counts for one machine alone',
    file: 'src/services/pods/create-pod.ts',
    find: 'idempotencyKey, asked, (store)',
    replace: 'idempotencyKey, body, (store)',
  },
  {
    id: "a stranger's delegation opens a repository",
    file: 'src/db/resources/delegations.ts',
    find: '.where(and(eq(delegations.teamId, teamId), which))',
    replace: '.where(which)',
  },
  {
    id: 'a delegated token opens every repository that lets the plane in',
    file: 'src/domain/resources/ecr.ts',
    find: 'Action: pull, Resource: ecrArn(repository)',
    replace: "Action: pull, Resource: '*'",
  },
  {
    id: 'a credential may be named with any image',
    file: 'src/services/resources/registries.ts',
    find: 'else if (found.host !== host) {',
    replace: 'else if (found.host !== host && found.id !== registry) {',
  },
  {
    id: "a stranger's DELETE reaches the queue of an endpoint",
    file: 'src/objects/ownership/own.ts',
    find: "if (!(await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id))) throw new Problem('notFound')",
    replace: 'await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id)',
  },
  {
    id: "an owner's calls warm the answers that strangers get",
    file: 'src/objects/ownership/own-queue.ts',
    find: 'const keyOf = (teamId: string, endpointId: string) => `${teamId}/${endpointId}`',
    replace: 'const keyOf = (_teamId: string, endpointId: string) => endpointId',
  },
  {
    id: 'an unknown endpoint costs the database a read for every call',
    file: 'src/objects/ownership/own-queue.ts',
    find: 'if (refused.get(key, nowMs)) return null',
    replace: '',
  },
  {
    id: 'the log of any worker can be asked for',
    file: 'src/objects/ownership/own-worker.ts',
    find: "if (trace === null) throw new Problem('notFound')",
    replace: '',
  },
  {
    id: 'removed machines keep a data center',
    file: 'src/db/hosts/data-centers.ts',
    find: "where(and(eq(hosts.dataCenterId, dataCenterId), ne(hosts.status, 'REMOVED')))",
    replace: 'where(eq(hosts.dataCenterId, dataCenterId))',
  },
]
