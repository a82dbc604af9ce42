import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canaries, hitsIn, sweepFiles } from '../support/agent/canaries.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { LogFollower } from '../support/plane/log-follower.ts'
import { eventually } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'

// Secrets as a container sees them, over the public API alone; and the places where they must not appear.

const UNTIL_NOTIFIED = "trap 'exit 0' TERM; while :; do busybox sleep 1 & wait $!; done"
const PRINT_AND_STAY = `echo "db=$DB none=<$NONE>"; ${UNTIL_NOTIFIED}`
const STAY = `echo "quiet has $(echo -n "$QUIET" | busybox wc -c)"; ${UNTIL_NOTIFIED}`
const WAIT_MS = 60_000

let fleet: Fleet
let image: string
beforeAll(async () => {
  image = await busyboxImage()
  fleet = await Fleet.start({ hosts: { only: { simulateGpus: 'NVIDIA L4:4' } } })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await fleet?.stop()
})

const answers: { path: string; text: string }[] = []

/** A call whose answer is recorded for the sweep. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are used member by member; typing each would say everything twice
async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<any> {
  const key = path.startsWith('/admin/') ? fleet.plane.operatorKey : fleet.plane.apiKey
  const response = await fetch(fleet.plane.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  answers.push({ path: `${method} ${path} ${response.status}`, text })
  return text === '' ? null : JSON.parse(text)
}

/** Starts a worker of a fresh endpoint and returns its id. */
async function startWorker(endpointId: string, body: object): Promise<string> {
  await call('POST', `/v2/${endpointId}/run`, body)
  return await eventually('the worker', WAIT_MS, async () => (await call('GET', `/v2/serverless/${endpointId}/workers`)).workers[0]?.id)
}

async function envOfContainer(workloadId: string): Promise<Record<string, string>> {
  const id = await eventually('the container', WAIT_MS, () => docker('ps', '-q', '--filter', `label=podplane.workload=${workloadId}`))
  const list = JSON.parse(await docker('inspect', '--format', '{{json .Config.Env}}', id.trim())) as string[]
  return Object.fromEntries(list.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

test('[ACC-6] a pod and a worker see the value of their start; a rotation reaches only the next one', async () => {
  const { id } = await call('POST', '/v2/account/secrets', { name: 'DB', value: 'first value: "ü"' })
  const env = { DB: '{{ RUNPOD_SECRET_DB }}', NONE: '{{RUNPOD_SECRET_NONE}}' }
  const pod = await TestPod.run(fleet.plane, podBody(image, PRINT_AND_STAY, { env }))
  const log = pod.log()
  await log.waitFor((lines) => lines.includes('db=first value: "ü" none=<>'))
  const workers = { max: 1 }
  const endpoint = await TestEndpoint.create(fleet.plane, 'secrets', { image, cmd: ['/bin/sh', '-c', PRINT_AND_STAY], env, workers })
  const workerId = await startWorker(endpoint.id, { input: {} })
  const workerLog = LogFollower.open(fleet.plane, endpoint.id, workerId)
  await workerLog.waitFor((lines) => lines.includes('db=first value: "ü" none=<>'))
  const first = await pod.container()

  await call('PATCH', `/v2/account/secrets/${id}`, { value: 'second' })
  expect((await pod.get()).env).toEqual(env)
  expect((await pod.container()).Id).toBe(first.Id)
  await pod.act('restart')
  await log.waitFor((lines) => lines.includes('db=second none=<>'))
  expect((await pod.container()).Id).not.toBe(first.Id)
  expect(log.lines().filter((line) => line.startsWith('env refers to secrets'))).toHaveLength(2)
  // The log contains everything that the worker ever printed: it was not restarted.
  expect(workerLog.lines().filter((line) => line.startsWith('db='))).toEqual(['db=first value: "ü" none=<>'])
  log.close()
  workerLog.close()
  await Promise.all([pod.terminate(), endpoint.remove()])
})

/** Plants a canary in every place where a user stores or receives a secret, with a pod and a worker that have them. */
async function plant(): Promise<Canaries> {
  const own = (kind: string) => `canary-${kind}-${crypto.randomUUID()}`
  const [secret, previous, podEnv, endpointEnv, templateEnv] = [
    own('secret'),
    own('former-secret'),
    own('pod'),
    own('endpoint'),
    own('template'),
  ]
  const [userName, password, onceEnv] = [own('user'), own('password'), own('once')]
  const s3Config = {
    accessId: own('s3-id'),
    accessSecret: own('s3-secret'),
    bucketName: own('s3-bucket'),
    endpointUrl: `https://${own('s3')}.example`,
  }
  const { id } = await call('POST', '/v2/account/secrets', { name: 'QUIET', value: previous, description: 'd' }, { 'Idempotency-Key': 'a' })
  await call('PATCH', `/v2/account/secrets/${id}`, { value: secret })
  await call('POST', '/v2/registries', { name: 'r', username: userName, password })
  await call('POST', '/v2/templates', { name: 'canaries', image, env: { T: templateEnv } })
  const members = { env: { QUIET: '{{ RUNPOD_SECRET_QUIET }}', P: podEnv }, startJupyter: true, ports: ['8888/http'] }
  const pod = await TestPod.run(fleet.plane, podBody(image, STAY, members))
  const log = pod.log()
  await log.waitFor((lines) => lines.includes(`quiet has ${secret.length}`))
  log.close()
  await call('POST', '/v2/pods', podBody(image, STAY, { name: 'once', env: { P: onceEnv } }), { 'Idempotency-Key': 'b' })
  const variables = { QUIET: '{{ RUNPOD_SECRET_QUIET }}', E: endpointEnv }
  const options = { image, cmd: ['/bin/sh', '-c', STAY], env: variables, workers: { max: 1 } }
  const endpoint = await TestEndpoint.create(fleet.plane, 'canaries', options)
  const workerId = await startWorker(endpoint.id, { input: {}, s3Config })
  const [ofPod, ofWorker] = [await envOfContainer(`${pod.id}-1`), await envOfContainer(workerId)]
  const { id: userId } = await call('POST', '/admin/v1/users', { email: 'canaries@example.com' })
  const { key } = await call('POST', `/admin/v1/users/${userId}/keys`, { name: 'k' })
  const { token } = await call('POST', '/admin/v1/join-tokens', { name: 'never used' })
  const signing = (await call('GET', '/v2/webhooks/signing-secret')).secret
  const nextSigning = (await call('POST', '/v2/webhooks/signing-secret/rotate')).secret
  const around = await plantAround(own('alert'), userId)
  expect([ofPod.QUIET, ofWorker.QUIET, ofPod.P, ofWorker.E]).toEqual([secret, secret, podEnv, endpointEnv])
  const { JUPYTER_PASSWORD: jupyter = '', RUNPOD_API_KEY: podKey = '' } = ofPod
  const workerKey = ofWorker.RUNPOD_AI_API_KEY ?? ''
  const ofTenant = { secret, former: previous, podEnv, endpointEnv, templateEnv, userName, password, onceEnv, ...s3Config }
  const given = { jupyter, podKey, workerKey, key, token, signing, nextSigning }
  return new Map(Object.entries({ ...ofTenant, ...given, ...around }))
}

/** Secrets that an account, its members and its devices receive beside workloads, each with the answer that is stored for a repeat. */
async function plantAround(alert: string, userId: string): Promise<Record<string, string>> {
  const once = () => ({ 'Idempotency-Key': crypto.randomUUID() })
  await call('PATCH', '/v2/billing/limits', { webhook: `https://hooks.example.com/x?key=${alert}` })
  const { id, key: ownKey } = await call('POST', '/v2/account/keys', { name: 'own' }, once())
  const { key: rotated } = await call('POST', `/v2/account/keys/${id}/rotate`, {}, once())
  const organization = await call('POST', '/v2/organizations', { name: 'Acme' })
  const guest = { email: 'guest@example.com', role: 'DEV' }
  const { token: invitation } = await call('POST', `/v2/organizations/${organization.id}/invitations`, guest, once())
  const { link } = await call('POST', '/admin/v1/sign-in-links', { userId })
  const { device_code: device } = await call('POST', '/console/device', { name: 'laptop' })
  return { alert, ownKey, rotated, invitation, link, device }
}

/** Places where the contract shows a secret: env to permitted readers, values shown once, the signing secret. */
const SHOWN: Record<string, RegExp> = {
  podEnv: / \/v2\/pods/,
  onceEnv: / \/v2\/pods/,
  jupyter: / \/v2\/pods/,
  endpointEnv: / \/v2\/serverless/,
  templateEnv: / \/v2\/templates/,
  key: /^POST \/admin\/v1\/users\/[^/]+\/keys /,
  token: /^POST \/admin\/v1\/join-tokens /,
  ownKey: /^POST \/v2\/account\/keys /,
  rotated: /^POST \/v2\/account\/keys\/[^/]+\/rotate /,
  invitation: /^POST \/v2\/organizations\/[^/]+\/invitations /,
  link: /^POST \/admin\/v1\/sign-in-links /,
  device: /^POST \/console\/device /,
  signing: / \/v2\/webhooks\/signing-secret/,
  nextSigning: / \/v2\/webhooks\/signing-secret/,
}

const READS = [
  '/v2/account/secrets',
  '/v2/account/secrets?name=QUIET',
  '/v2/account/limits',
  '/v2/account/keys',
  '/v2/audit',
  '/v2/billing/limits',
  '/v2/organizations',
  '/v2/registries',
  '/v2/templates',
  '/v2/pods',
  '/v2/serverless',
  '/v2/webhooks/signing-secret',
  '/v2/webhooks/deliveries',
  '/admin/v1/audit',
  '/admin/v1/users',
  '/admin/v1/hosts',
  '/admin/v1/join-tokens',
]

test('[SECRET-8] no kind of secret appears in an answer without need, in a log, or unencrypted in a file of the plane or the host', async () => {
  const canaries = await plant()
  expect([...canaries.values()].filter((canary) => canary.length < 8)).toEqual([])
  for (const path of READS) await call('GET', path)
  const { endpoints } = await call('GET', '/v2/serverless')
  const id = endpoints.find(({ name }: { name: string }) => name === 'canaries').id
  for (const part of ['releases', 'workers', 'scaling']) await call('GET', `/v2/serverless/${id}/${part}`)
  // Refusals repeat nothing of the refused value.
  await call('POST', '/v2/account/secrets', { name: 'QUIET', value: canaries.get('secret') })
  await call('POST', '/v2/account/secrets', { name: 'RUNPOD', value: canaries.get('secret'), x: canaries.get('secret') })
  await call('POST', '/v2/registries', { name: 'r', username: `${canaries.get('userName')}\u0000`, password: canaries.get('password') })
  const { plane } = fleet
  const agent = fleet.agent('only')
  const shown = answers.flatMap(({ path, text }) => hitsIn(canaries, path, text))
  const kept = [sweepFiles(canaries, plane.dataDir), sweepFiles(canaries, agent.stateDir)]
  const logs = [hitsIn(canaries, 'log of the plane', plane.output()), hitsIn(canaries, 'log of the host', agent.output())]
  const places = { answers: answers.length, files: kept.map(({ files }) => files), logs: logs.length }
  console.info(JSON.stringify({ canaries: { kinds: canaries.size, ...places, shown: shown.length } }))
  expect(shown.filter(({ kind, place }) => !SHOWN[kind]?.test(place))).toEqual([])
  // Proof that the sweep works: each shown secret was found in its place.
  expect([...new Set(shown.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(SHOWN).toSorted())
  expect([...kept.flatMap(({ hits }) => hits), ...logs.flat()]).toEqual([])
  expect(Math.min(...places.files)).toBeGreaterThan(2)
  // A value that is no secret is unencrypted in files of both.
  const open = new Map([['image', image]])
  expect([plane.dataDir, agent.stateDir].map((directory) => sweepFiles(open, directory).hits.length > 0)).toEqual([true, true])
})
