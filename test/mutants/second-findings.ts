import { finding } from './finding.ts'
import type { Mutant } from './table.ts'

const PARENTS = 'src/services/credentials/parents.ts'
const CONTAINER_IMAGE = 'host-agent/docker/container-image.test.ts'

/** Guards of the second round's findings, S1 to S19 of docs/SECURITY.md. */
export const SECOND_FINDING_MUTANTS: readonly Mutant[] = [
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
    find: 'const charge = await chargeRequest(env, { userId, teamId }, nowMs)',
    replace: "const charge = { counted: countedBy('operatorKey'), rateLimit: null }",
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
    find: 'first.verdict?.allowed === false && (await ends(c))',
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
  finding('S10', 'signing in by link costs another user a request', ['worker', 'worker/console/sign-in-cost'], {
    file: 'src/services/sessions/sign-in-links.ts',
    find: 'chargeRequest(env, { userId: user.id,',
    replace: 'chargeRequest(env, { userId: `not ${user.id}`,',
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
  finding('SHR-41', 'one person keeps all disks of machines by stopped pods', ['worker', 'worker/pods/disk-share'], {
    file: 'src/db/pods/pods.ts',
    find: 'diskShare: withinDiskShare(teamId, hostId, { id: pod.id, diskGb }),',
    replace: 'diskShare: sql`TRUE`,',
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
  finding('S1', 'the key of a pod starts its pod', ['worker', 'worker/rest/pods-access'], {
    file: 'src/domain/access.ts',
    find: 'return POD_KEY_ACTIONS.has(action) ?',
    replace: "return action !== '' || POD_KEY_ACTIONS.has(action) ?",
  }),
  finding('S7', 'a header that is new to the plane passes below its address', ['unit', 'domain/balancer/headers.test.ts'], {
    file: 'src/domain/balancer/headers.ts',
    find: 'return PASSED_ON_PLANE_ORIGIN.has(name)',
    replace: "return name !== 'set-cookie' || PASSED_ON_PLANE_ORIGIN.has(name)",
  }),
  finding('S12', 'an assertion of an unknown host is looked up however many came before', ['worker', 'worker/rest/key-floods'], {
    file: 'src/services/hosts/host-enrolment.ts',
    find: 'const lookup = source === null ?',
    replace: 'const lookup = source !== null ?',
  }),
  finding('S18', 'a host writes to the terminals of tenants', ['worker', 'worker/pods/host-words'], {
    file: 'src/host-protocol/host-text.ts',
    find: "text.replace(UNSHOWN, ' ')",
    replace: "text.replace(UNSHOWN, '$&')",
  }),
]
