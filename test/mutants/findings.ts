import type { Mutant } from './table.ts'

// For each finding of docs/SECURITY.md one of its guards is taken away; most have others behind it. L3 and L5 are kept as they were, and have none.

type Project = 'unit' | 'agent' | 'worker'

/** Where a finding was: the test that bears its name has to fail. */
function finding(id: string, what: string, [project, test]: readonly [Project, string], bug: Omit<Mutant, 'id' | 'tests'>): Mutant {
  return { id: `${id}: ${what}`, tests: ['--project', project, '--bail', '1', `test/${test}`, '-t', `\\[${id}\\]`], ...bug }
}

const OWN = 'src/objects/ownership/own.ts'
const FORMER = 'if (!(await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id))) throw'
const ANYBODYS = 'if ((await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id)) === null) throw'
const DOOR = 'src/host-agent/relay/door/door.ts'
const SEAL = 'src/platform/seal.ts'
const PARENTS = 'src/services/credentials/parents.ts'
const CONTAINER_IMAGE = 'host-agent/docker/container-image.test.ts'

export const FINDING_MUTANTS: readonly Mutant[] = [
  finding('C1', 'another account’s endpoint is deleted', ['worker', 'worker/rest/foreign-principals'], {
    file: OWN,
    find: FORMER,
    replace: ANYBODYS,
  }),
  finding('C2', 'labels of an image are the agent’s, whatever their size', ['agent', 'host-agent/docker/client.test.ts'], {
    file: 'src/host-agent/docker/engine/client.ts',
    find: 'name.startsWith(OWN_LABELS) && value.length <= MAX_LABEL_CHARS',
    replace: 'name.startsWith(OWN_LABELS) || value.length <= MAX_LABEL_CHARS',
  }),
  finding('C3', 'a host is told all at once', ['worker', 'worker/hosts/snapshot'], {
    file: 'durable-objects/host/workload-store.ts',
    find: 'if (bytes >= maxBytes) return { rows, more: true }',
    replace: 'if (bytes < 0) return { rows, more: true }',
  }),
  finding('H1', 'the relay serves strangers', ['agent', 'host-agent/relay/door.test.ts'], {
    file: DOOR,
    find: 'if (caller === undefined) {',
    replace: "if (caller === 'nobody') {",
  }),
  finding('H2', 'names lead to private addresses', ['agent', 'host-agent/pulls/egress.test.ts'], {
    file: 'src/host-agent/pulls/egress.ts',
    find: 'addresses.find(({ address }) => !isPublicAddress(address))',
    replace: "addresses.find(({ address }) => address === '')",
  }),
  finding('H3', 'a login is sent to any registry', ['agent', CONTAINER_IMAGE], {
    file: 'src/host-agent/pulls/registry-client.ts',
    find: 'login.host !== reference.host',
    replace: "login.host === ''",
  }),
  finding('H3', 'a credential is named for any image', ['worker', 'worker/rest/registry-hosts'], {
    file: 'src/services/resources/registries.ts',
    find: 'else if (found.host !== host) {',
    replace: "else if (found.host === '') {",
  }),
  finding('H4', 'a layer that is here is anybody’s', ['agent', CONTAINER_IMAGE], {
    file: 'src/host-agent/pulls/pull-image.ts',
    find: '(index) => index >= known || !layers.isProven(index)',
    replace: '(index) => index >= known',
  }),
  finding('H5', 'releases are kept for ever', ['worker', 'worker/rest/budgets'], {
    file: 'src/db/endpoints/endpoints.ts',
    find: "const oldest = sql`${release.version} - ${boundOf(config.teamId, 'releasesPerEndpoint')}`",
    replace: 'const oldest = sql`0`',
  }),
  finding('H6', 'a key is remembered as it was written', ['worker', 'worker/rest/key-floods'], {
    file: 'src/domain/session/bearer.ts',
    find: "{ kind: 'NONE' } : { kind: 'KEY', text }",
    replace: "{ kind: 'NONE' } : { kind: 'KEY', text: authorization.slice(7) }",
  }),
  finding('H7', 'large bodies come without a bound', ['worker', 'worker/rest/in-flight'], {
    file: 'src/http/jobs/in-flight-body.ts',
    find: 'if (used + bytes > bound) {',
    replace: 'if (used + bytes > bound * 1_000) {',
  }),
  finding('H8', 'an archive takes what it says', ['agent', 'host-agent/pulls/layers.test.ts'], {
    file: 'src/host-agent/pulls/layers/tar-meter.ts',
    find: '    return this.counted\n',
    replace: '    return data.length\n',
  }),
  finding('H9', 'a container keeps the powers of the engine', ['agent', 'host-agent/profile/container-profile.test.ts'], {
    file: 'src/host-agent/profile/container-profile.ts',
    find: "CapDrop: ['ALL'],",
    replace: 'CapDrop: [],',
  }),
  finding('H10', 'built-in images are on', ['agent', 'host-agent/options.test.ts'], {
    file: 'src/host-agent/options.ts',
    find: "return builtinImages ? undefined : new Set(['docker'])",
    replace: 'return undefined',
  }),
  finding('M1', 'http ports are bound for everybody', ['agent', 'host-agent/network/published-address.test.ts'], {
    file: 'src/host-agent/network/published-address.ts',
    find: "if (type === 'http') return httpIp",
    replace: "if (type === '') return httpIp",
  }),
  finding('M2', 'requests are read before others are answered', ['agent', 'host-agent/relay/door.test.ts'], {
    file: DOOR,
    find: 'return former === undefined || former.writableEnded',
    replace: 'return former === undefined || former !== response',
  }),
  finding('M3', 'unknown keys are looked up without end', ['worker', 'worker/rest/key-floods'], {
    file: 'src/services/credentials/key-callers.ts',
    find: 'return source === null ?',
    replace: "return source !== '' ?",
  }),
  finding('M4', 'variables lie as they are', ['worker', 'worker/secrets/at-rest'], {
    file: 'src/db/sealed-env.ts',
    find: 'container: isEmpty ? { ...container, env }',
    replace: 'container: !isEmpty ? { ...container, env }',
  }),
  finding('M5', 'a stream outlives its key', ['worker', 'worker/rest/suspension'], {
    file: 'src/http/watched/watched-stream.ts',
    find: '(good) => good || ending.abort(),',
    replace: '() => undefined,',
  }),
  finding('M6', 'an unknown id becomes an object', ['worker', 'worker/rest/foreign-principals'], {
    file: OWN,
    find: FORMER,
    replace: ANYBODYS,
  }),
  finding('M7', 'webhooks reach the plane itself', ['agent', 'local/outbound.test.ts'], {
    file: 'src/local/plane/outbound.ts',
    find: 'isOwnPort(portOf(request.url)) ? NOTHING_PRIVATE : allow',
    replace: 'isOwnPort(0) ? NOTHING_PRIVATE : allow',
  }),
  finding('M8', 'a queue takes what was not granted', ['worker', 'worker/queue/storage-grant'], {
    file: 'durable-objects/endpoint/storage-grant.ts',
    find: 'if (bytes > this.leftBytes) return false',
    replace: 'if (bytes > this.leftBytes) return true',
  }),
  finding('M9', 'a link is told before its hello', ['worker', 'worker/hosts/second-link'], {
    file: 'durable-objects/host/link/links.ts',
    find: 'return stateOf(socket).greeted',
    replace: "return 'greeted' in stateOf(socket)",
  }),
  finding('M10', 'a suspended account goes on', ['worker', 'worker/rest/suspension'], {
    file: 'src/services/credentials/key-callers.ts',
    find: 'if (verdict.isSuspended) return',
    replace: 'if (verdict.isSuspended && nowMs < 0) return',
  }),
  finding('M11', 'what nobody pulled runs', ['agent', CONTAINER_IMAGE], {
    file: 'src/host-agent/docker/container/container-image.ts',
    find: 'if (this.deps.images.localImages) {',
    replace: "if ('localImages' in this.deps.images) {",
  }),
  finding('L1', 'calls of one team warm the ids of another', ['worker', 'worker/rest/own-queue'], {
    file: 'src/objects/ownership/own-queue.ts',
    find: '=> `${teamId}/${endpointId}`',
    replace: '=> `${teamId.slice(0, 0)}/${endpointId}`',
  }),
  finding('L2', 'a key of small order proves who somebody is', ['unit', 'domain/host/public-key.test.ts'], {
    file: 'src/domain/host/public-key.ts',
    find: 'return SMALL_ORDER.includes(hex) ?',
    replace: 'return SMALL_ORDER.includes(`0x${hex}`) ?',
  }),
  finding('L4', 'every error of a body is told', ['worker', 'worker/rest/large-bodies'], {
    file: 'src/contract/validation-errors.ts',
    find: 'issues.slice(0, MAX_ERRORS)',
    replace: 'issues.slice(0)',
  }),
  finding('L6', 'a plane is spoken to without a secret', ['agent', 'host-agent/options.test.ts'], {
    file: 'src/host-agent/options.ts',
    find: 'parsePlaneUrl(flags.url, flags.insecurePlane)',
    replace: 'parsePlaneUrl(flags.url, true)',
  }),
  finding('L7', 'a former secret opens nothing', ['worker', 'worker/secrets/at-rest'], {
    file: SEAL,
    find: '...former.filter(',
    replace: '...former.slice(0, 0).filter(',
  }),
  finding('L8', 'a plane runs without its secrets', ['worker', 'worker/secrets/start'], {
    file: SEAL,
    find: "if (typeof value === 'string' && value.length >= MIN_SECRET_LENGTH) return",
    replace: "if (value !== 'never') return",
  }),
  finding('L9', 'a name turns the direction of text', ['worker', 'worker/rest/small-doors'], {
    file: 'src/contract/fields.ts',
    find: '  /^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060',
    replace: '  /^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2060',
  }),
  finding('L10', 'the operator’s API is on every host name', ['worker', 'worker/rest/small-doors'], {
    file: 'src/http/admin-api.ts',
    find: 'if (adminHost !== null && new URL(c.req.url).host !== adminHost)',
    replace: "if (adminHost === '')",
  }),
  finding('L11', 'a dependency is whatever is newest', ['unit', 'contract/supply-chain.test.ts'], {
    file: 'package.json',
    find: '"graphql": "',
    replace: '"graphql": "^',
  }),
  finding('S4', 'what the operator key has made outlives its rotation', ['worker', 'worker/sessions/derived-rules'], {
    file: PARENTS,
    find: 'return id === (await digestOfOperatorKey(env))',
    replace: "return id !== '' || (await digestOfOperatorKey(env)) === id",
  }),
  finding('S5', 'the key of a device outlives what its session came from', ['worker', 'worker/sessions/derived-rules'], {
    file: PARENTS,
    find: 'row.parent === null || ',
    replace: 'row.parent !== undefined || ',
  }),
  finding('S9', 'a code that the plane never gave out takes a row', ['worker', 'worker/console/devices'], {
    file: 'src/domain/session/device-login.ts',
    find: 'if (code === random + checkLetters(random, minute, digest)) return',
    replace: "if (code !== '') return",
  }),
  finding('S10', 'signing in by key costs nothing', ['worker', 'worker/console/sign-in-cost'], {
    file: 'src/services/sessions/console-sessions.ts',
    find: 'const rateLimit = await chargeRequest(env, { userId, teamId }, nowMs)',
    replace: 'const rateLimit = await Promise.resolve(null)',
  }),
  finding('S13', 'a link is used up before anybody agrees', ['worker', 'worker/console/sign-in-cost'], {
    file: 'src/services/sessions/sign-in-links.ts',
    find: 'const row = await findSignInLink(db, id, nowMs)',
    replace: 'const row = await takeSignInLink(db, id, nowMs)',
  }),
  finding('S8', 'a delegation outlives its maker’s membership', ['worker', 'worker/pods/delegated-pulls'], {
    file: 'src/domain/resources/delegation.ts',
    find: "if (role === null || joinedAtMs === null) return 'the user who delegated is no longer a member of the account'",
    replace: 'if (role === null || joinedAtMs === null) return null',
  }),
  finding('S8', 'trust given for one account serves all of a user', ['worker', 'worker/pods/delegated-pulls'], {
    file: 'src/effects/ecr/session-name.ts',
    find: 'const name = `${teamId}-${userId}`',
    replace: 'const name = `account-${userId}`',
  }),
  finding('S14', 'an organization goes on without an owner', ['worker', 'worker/rest/suspended-owners'], {
    file: 'src/db/accounts/suspension.ts',
    find: 'COALESCE(t.suspended_at, ${OWNERS_SUSPENDED_SINCE})',
    replace: 'COALESCE(t.suspended_at, NULL)',
  }),
  finding('S14', 'pods of such an organization run on', ['worker', 'worker/rest/suspended-owners'], {
    file: 'src/services/accounts/suspension.ts',
    find: 'for (const { id } of await listFollowing(openDatabase(ctx.env.DB), userId)) settled.push',
    replace: 'for (const { id } of (await listFollowing(openDatabase(ctx.env.DB), userId)).slice(0, 0)) settled.push',
  }),
  finding('S15', 'a pod spends the requests of its owner', ['worker', 'worker/rest/workload-limits'], {
    file: 'src/domain/rate-limit.ts',
    find: "return caller.via === 'POD' ?",
    replace: "return caller.via === 'NONE' ?",
  }),
  finding('S15', 'a user who is out of requests ends nothing', ['worker', 'worker/rest/workload-limits'], {
    file: 'src/http/middleware/rate-limit.ts',
    find: 'first?.allowed === false && (await ends(c))',
    replace: 'first === undefined',
  }),
  finding('S1', 'any writer of a row names any secret in it', ['worker', 'worker/secrets/grants'], {
    file: 'src/domain/resources/secret-grants.ts',
    find: 'const missing = mayGrant ? []',
    replace: 'const missing = mayGrant || userId ? []',
  }),
  finding('S1', 'a reference that nobody granted is filled in', ['worker', 'worker/secrets/grants'], {
    file: 'src/effects/secret-env.ts',
    find: 'if (ungranted !== null) return',
    replace: 'if (ungranted === "") return',
  }),
  finding('S1', 'a worker’s key is good for whatever takes it', ['worker', 'worker/rest/worker-keys'], {
    file: 'src/domain/access.ts',
    find: "'job-done', 'job-stream', 'ping']",
    replace: "'job-done', 'job-stream', 'ping', 'run']",
  }),
  finding('S2', 'each organization has the ceiling for itself', ['worker', 'worker/billing/shared-ceiling.test.ts'], {
    file: 'src/db/billing/spend.ts',
    find: '${isPast(IS_OF_PAYER, ceiling)}',
    replace: '${isPast(sql`team_id = ${teamId}`, ceiling)}',
  }),
  finding('S2', 'each organization has a month for itself', ['worker', 'worker/billing/shared-ceiling.test.ts'], {
    file: 'src/db/billing/month-limit.ts',
    find: 'isSpent(sql`ceiling_micros_per_month`, IS_OF_PAYER)',
    replace: 'isSpent(sql`ceiling_micros_per_month`, OF_TEAM)',
  }),
  finding('S10', 'a sign-in costs no request', ['worker', 'worker/audit/counted-routes.test.ts'], {
    file: 'src/services/sessions/console-sessions.ts',
    find: "if ('problem' in counted) return counted",
    replace: "if ('nothing' in counted) return counted",
  }),
  finding('S10', 'a row is written without the proof of a counted request', ['worker', 'worker/audit/counted-routes.test.ts'], {
    file: 'src/objects/cause.ts',
    find: 'if (!counted)',
    replace: "if (actor.requestId === '')",
  }),
  finding('S10', 'a login over SSH costs nothing', ['worker', 'worker/doors/ssh.test.ts'], {
    file: 'src/services/pods/doors/ssh.ts',
    find: 'if (counted) return counted',
    replace: 'if (id) return counted as never',
  }),
  finding('S2', 'each account stops what all are over together', ['unit', 'domain/billing/spend-watch.test.ts'], {
    file: 'src/domain/billing/spend-watch.ts',
    find: 'bound.isShared ? newestFirst : newestFirst.filter(isOwn)',
    replace: 'newestFirst.filter(isOwn)',
  }),
  finding('S11', 'a registry may send as slowly as it likes', ['agent', 'host-agent/pulls/slow-registries.test.ts'], {
    file: 'src/host-agent/pulls/pull-pace.ts',
    find: 'if (bytes < (bytesPerMinute * windowMs) / MINUTE_MS)',
    replace: 'if (bytes < 0)',
  }),
  finding('S16', 'one account may open every stream into a machine', ['worker', 'worker/doors/shared-streams'], {
    file: 'src/host-protocol/tunnel/windows.ts',
    find: 'return own.streams < fairCount(',
    replace: 'return own.streams < MAX_STREAMS || own.streams < fairCount(',
  }),
  finding('S19', 'one account may hold every image of a machine', ['agent', CONTAINER_IMAGE], {
    file: 'src/host-agent/pulls/space/image-shares.ts',
    find: 'this.deps.isShared() ? fairCount(IMAGES_MAX, IMAGES_KEPT, others.size) : IMAGES_MAX',
    replace: 'IMAGES_MAX',
  }),
  finding('S6', 'any host is believed about any volume', ['worker', 'worker/hosts/volume-hosts'], {
    file: 'src/db/resources/volume-hosts.ts',
    find: 'held.host_id = ${hostId} AND held.mounted_at IS NOT NULL)`',
    replace: '(1 OR held.host_id = ${hostId}))`',
  }),
  finding('S7', 'below the plane a pod is served where it has a name', ['worker', 'worker/doors/own-names'], {
    file: 'src/http/pod-doors/pod-door.ts',
    find: 'if (elsewhere !== null)',
    replace: "if (elsewhere === 'never')",
  }),
  finding('S17', 'an engine speaks to tenants', ['agent', 'host-agent/docker/engine-words.test.ts'], {
    file: 'src/host-agent/docker/engine/engine-words.ts',
    find: '  return UNKNOWN_FAILURE\n',
    replace: '  return text\n',
  }),
  finding('S18', 'a description turns the direction of text', ['worker', 'worker/rest/shown-text'], {
    file: 'src/contract/resources/secrets.ts',
    find: '  .regex(LINES_TEXT)\n',
    replace: '\n',
  }),
  finding('S19', 'the console runs the scripts of its whole origin', ['worker', 'worker/console/policies'], {
    file: 'src/http/pages/script-source.ts',
    find: "host.startsWith('[')",
    replace: "host !== ''",
  }),
]

/** The same tests by their projects, all that their files have: they pass as long as nothing is planted. */
export const FINDING_STAGES = (['unit', 'agent', 'worker'] as const).map((project) => {
  const files = FINDING_MUTANTS.flatMap(({ tests }) => (tests?.[1] === project ? [tests[4] ?? ''] : []))
  return ['--project', project, '--bail', '1', ...new Set(files)]
})
