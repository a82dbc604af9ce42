import { finding } from './finding.ts'
import { SECOND_FINDING_MUTANTS } from './second-findings.ts'
import type { Mutant } from './table.ts'

// For each finding of docs/SECURITY.md one of its guards is removed; most have further ones. L3 and L5 were accepted, and have none.

const OWN = 'src/objects/ownership/own.ts'
const FORMER = 'if (!(await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id))) throw'
const ANYBODYS = 'if ((await hasOrHadEndpoint(openDatabase(env.DB), asker.teamId, id)) === null) throw'
const DOOR = 'src/host-agent/relay/door/door.ts'
const SEAL = 'src/platform/seal.ts'
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
    find: "const oldest = sql`${version} - ${boundOf(teamId, 'releasesPerEndpoint')}`",
    replace: 'const oldest = sql`0`',
  }),
  finding('H6', 'a key is remembered as it was written', ['worker', 'worker/rest/key-floods'], {
    file: 'src/domain/session/bearer.ts',
    find: "{ kind: 'NONE' } : { kind: 'KEY', text }",
    replace: "{ kind: 'NONE' } : { kind: 'KEY', text: authorization.slice(7) }",
  }),
  finding('H7', 'large bodies come without a bound', ['worker', 'worker/rest/in-flight'], {
    file: 'src/http/middleware/in-flight-body.ts',
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
    find: 'if (Object.keys(env).length === 0)',
    replace: 'if (Object.keys(env).length >= 0)',
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
    file: 'durable-objects/host/links.ts',
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
    find: 'told.slice(0, MAX_ERRORS)',
    replace: 'told.slice(0)',
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
  ...SECOND_FINDING_MUTANTS,
]

/** The same tests by their projects, all that their files have: they pass as long as nothing is planted. */
export const FINDING_STAGES = (['unit', 'agent', 'worker'] as const).map((project) => {
  const files = FINDING_MUTANTS.flatMap(({ tests }) => (tests?.[1] === project ? [tests[4] ?? ''] : []))
  return ['--project', project, '--bail', '1', ...new Set(files)]
})
