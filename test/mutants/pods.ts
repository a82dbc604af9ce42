import type { Mutant } from './table.ts'

// Bugs of /v2/pods: reading a request, and writing an answer.

const REQUEST = 'src/domain/pod/request/request.ts'
const PATCH = 'src/domain/pod/request/patch.ts'
const MOUNTS = 'src/domain/pod/request/mounts.ts'
const COMPUTE = 'src/domain/pod/request/compute.ts'
const CONTAINER = 'src/domain/pod/request/container.ts'
const ACCESS = 'src/domain/pod/access.ts'
const DEADLINES = 'src/domain/pod/deadlines.ts'
const IDLE_STOP = 'src/domain/pod/idle-stop.ts'
const ETAG = 'src/domain/text/etag.ts'
const KEYS = 'src/db/idempotency.ts'
const CHANGE = 'src/services/pods/change-pod.ts'
const TRANSIT = 'src/effects/pods/pod-transitions.ts'

/** Killed by the unit tests of the pure rules. */
export const POD_DOMAIN_MUTANTS: readonly Mutant[] = [
  { id: 'stopAfter stops a locked pod', file: DEADLINES, find: 'locked ? null : stopAfterMs', replace: 'stopAfterMs' },
  { id: 'stopAfter of a stopped pod stays', file: DEADLINES, find: '{ ...pod, stopAfterMs: null, version', replace: '{ ...pod, version' },
  { id: 'idleStop stops a locked pod', file: IDLE_STOP, find: "status !== 'RUNNING' || locked", replace: "status !== 'RUNNING'" },
  { id: 'a restart does not count anew for idleStop', file: IDLE_STOP, find: 'idleSinceMs, startedAtMs ?? 0,', replace: 'idleSinceMs,' },
  {
    id: 'an SSH key outlives the membership of who added it',
    file: 'src/domain/resources/ssh-key.ts',
    find: "if (member === undefined) return 'the user who added it is no longer a member of the account'",
    replace: 'if (member === undefined) return null',
    tests: ['test/worker/rest/ssh-keys.test.ts', 'test/worker/rest/derived-standing.test.ts'],
  },
  { id: 'PUBLIC_KEY without keys', file: REQUEST, find: 'wantsSsh && sshKeys.length > 0 ?', replace: 'wantsSsh ?' },
  {
    id: "the user's key is overwritten",
    file: CONTAINER,
    find: '{ ...accessEnv, ...container.env }',
    replace: '{ ...container.env, ...accessEnv }',
  },
  { id: 'a new env takes the keys away', file: CONTAINER, find: '{ ...accessEnv, ...container.env }', replace: 'container.env' },
  {
    id: "a key of the user's own is kept in reserve",
    file: REQUEST,
    find: '!Object.hasOwn(spec.container.env, name)',
    replace: 'name !== undefined',
  },
  {
    id: 'a CPU pod takes the mount of a template',
    file: REQUEST,
    find: 'isNamed || !persistent || cpu',
    replace: 'isNamed || !persistent',
  },
  { id: 'a floor is joined by the set of a template', file: COMPUTE, find: ' || minCudaVersion !== undefined', replace: '' },
  { id: 'a volume elsewhere', file: REQUEST, find: '{ ...spec, dataCenterIds: [networkVolume.dataCenterId] }', replace: 'spec' },
  { id: 'the price of one GPU', file: COMPUTE, find: 'pricePerHour: price * count', replace: 'pricePerHour: price' },
  { id: 'one GPU too many', file: COMPUTE, find: 'count > type.maxCount', replace: 'count > type.maxCount + 1' },
  { id: 'a persistent mount shrinks', file: MOUNTS, find: 'persistent.size < sizeGb', replace: 'persistent.size < 0' },
  { id: 'another volume', file: MOUNTS, find: 'entry.volumeId !== current[kind]?.volumeId', replace: 'entry.volumeId === undefined' },
  { id: 'two spellings of one place', file: MOUNTS, find: 'const place = resolvePath(path)', replace: 'const place = path' },
  { id: 'spelling makes a new container', file: CONTAINER, find: 'command: decodeArgs(args)', replace: 'command: args' },
  { id: 'a locked pod loses its container', file: PATCH, find: 'before.locked && after.locked', replace: 'false' },
  { id: 'a stopped pod has an address', file: ACCESS, find: "status !== 'RUNNING' || ", replace: '' },
  { id: 'http is public', file: ACCESS, find: "port.type === 'http' ? sharedAddressOf(id) : publicIp", replace: 'publicIp' },
  {
    id: 'a network volume on a host without any',
    file: 'src/domain/host/placement.ts',
    find: 'sharedVolumes === null || sharedVolumes.includes(kind)',
    replace: 'sharedVolumes !== undefined',
  },
  {
    id: 'volumes of another data center are offered here',
    file: 'src/domain/pod/place/placement.ts',
    find: 'dataCenterIds.includes(host.dataCenterId))',
    replace: 'host.online)',
  },
  {
    id: 'no host at all is a lack of volumes',
    file: 'src/domain/pod/place/placement.ts',
    find: 'if (near.length === 0) return null',
    replace: '',
  },
  { id: 'a weak tag matches', file: ETAG, find: 'named.trim() === tag', replace: 'named.trim().endsWith(tag)' },
]

/** Killed by test/worker/rest/pods*. */
export const POD_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'a kept answer holds env',
    file: 'src/services/replayed-env.ts',
    find: 'keep: (answer) => put(answer, {}),',
    replace: 'keep: (answer) => answer,',
  },
  {
    id: 'a repeat shows env to whoever may write',
    file: 'src/services/pods/create-pod.ts',
    find: "hasScope(principal.scopes, 'pods:read') ?",
    replace: 'true ?',
  },
  {
    id: 'a repeat may name any template',
    file: 'src/services/pods/create-pod.ts',
    find: '  await requireTemplateScope(ctx, body.templateId)\n',
    replace: '',
  },
  {
    id: 'a repeat may name any credential',
    file: 'src/services/pods/create-pod.ts',
    find: '  requireRegistryScope(ctx, body.registry)\n  await',
    replace: '  await',
  },
  {
    id: 'stopped pods without bound',
    file: 'src/services/pods/create-pod.ts',
    find: 'return { pods: 1, stoppedPods: 1,',
    replace: 'return { pods: 1, stoppedPods: 0,',
  },
  { id: 'a lost claim still writes', file: KEYS, find: "COALESCE(${mine}, ${refuse('claim')})", replace: '${name.teamId}' },
  { id: 'a running claim is taken over', file: KEYS, find: 'nowMs - CLAIM_TTL_MS', replace: 'nowMs + 1' },
  { id: 'a refused key stays claimed', file: 'src/services/idempotency.ts', find: '    await releaseKey(db, name, claim)\n', replace: '' },
  { id: 'disk grows unreserved', file: TRANSIT, find: 'if (isResized || growth > 0) {', replace: 'if (false) {' },
  {
    id: 'If-Match is not looked at',
    file: CHANGE,
    find: 'if (!matchesVersion(ifMatch, before.version)) throw',
    replace: 'if (false) throw',
  },
  { id: 'start on a cordoned host', file: CHANGE, find: ' && host.cordonedAt === null) return', replace: ') return' },
  {
    id: 'a pod key opens every pod',
    file: 'src/effects/pods/pod-key.ts',
    find: '!good.some((expected) => equalInConstantTime(token, expected))',
    replace: 'false',
  },
  {
    id: 'members of clusters change the page',
    file: 'src/services/pods/pods.ts',
    find: 'shown.filter(({ row }) => row.clusterId === null)',
    replace: 'shown',
  },
]
