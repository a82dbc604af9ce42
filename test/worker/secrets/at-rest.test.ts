import { openRecords } from '../../../src/db/client.ts'
import { findEndpoint } from '../../../src/db/endpoints/endpoints.ts'
import { findPod } from '../../../src/db/pods/find-pods.ts'
import { vaultOf } from '../../../src/platform/seal.ts'
import {
  admin,
  api,
  createKey,
  createOrganization,
  describe,
  endpointBody,
  env,
  expect,
  it,
  runInDurableObject,
} from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'
import { podBody, podScene } from '../../support/pods/pod-scene.ts'
import { setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub, hostStub, webhookSenderStub } from '../../support/runner/stubs.ts'

const S3 = {
  accessId: 'plant-s3-id',
  accessSecret: 'plant-s3-secret',
  bucketName: 'plant-s3-bucket',
  endpointUrl: 'https://plant-s3.example',
}

/** Every row of every table, as text. */
async function d1Rows(): Promise<string> {
  const tables = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'").all()
  const rows = await Promise.all(tables.results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()))
  return JSON.stringify(rows.map(({ results }) => results))
}

function objectRows(stub: Parameters<typeof runInDurableObject>[0]): Promise<string> {
  return runInDurableObject(stub, (_object, state) => {
    const { sql } = state.storage
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
    const values = tables.toArray().flatMap(({ name }) => sql.exec(`SELECT * FROM "${name}"`).toArray().flatMap(Object.values))
    return values.map((value) => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : String(value))).join('\n')
  })
}

/**
 * Plants secrets of an account, its members and its browsers apart from workloads, each with an Idempotency-Key, so that its reply is
 * stored too.
 */
async function plantAround({ call, account }: Awaited<ReturnType<typeof podScene>>) {
  const once = () => ({ 'Idempotency-Key': crypto.randomUUID() })
  const alert = 'plant-alert-hook'
  const set = await call.patch('/v2/billing/limits', { webhook: `https://hooks.example.com/x?key=${alert}` })
  const ownKey = (await call.post('/v2/account/keys', { name: 'own' }, once())).body
  const rotated = (await call.post(`/v2/account/keys/${ownKey.id}/rotate`, {}, once())).body
  const path = `/v2/organizations/${await createOrganization(account.key)}/invitations`
  const invitation = (await call.post(path, { email: 'guest@example.com', role: 'DEV' }, once())).body.token
  const { link } = (await admin().post('/admin/v1/sign-in-links', { userId: account.userId })).body
  const device = (await api(null).post('/console/device', { name: 'laptop' })).body
  const cookie = (await Browser.signedIn(account.key)).secret
  const member = (await createKey(account.userId)).key
  expect(set).toMatchObject({ status: 200 })
  const codes = { deviceCode: device.device_code, userCode: device.user_code }
  return { alert, ownKey: ownKey.key, rotated: rotated.key, invitation, link, ...codes, cookie, member }
}

/** Plants a secret wherever a tenant may leave one, and returns each with the place of its rows. */
async function plant() {
  const scene = await podScene()
  const { call, account, host } = scene
  const queue = await setUpQueue({ env: { TOKEN: 'plant-endpoint-env' } })
  const owner = api(queue.account.key)
  const template = { name: 't', image: 'acme/a:1', env: { T: 'plant-template-env' } }
  const templateId = (await call.post('/v2/templates', template)).body.id
  await call.patch(`/v2/templates/${templateId}`, { env: { T: 'plant-template-env-2' } })
  const login = { name: 'r', username: 'plant-registry-user', password: 'plant-registry-pass' }
  expect((await call.post('/v2/registries', login)).status).toBe(201)
  const named = await call.post('/v2/account/secrets', { name: 'NAMED', value: 'plant-secret-value' })
  expect((await call.patch(`/v2/account/secrets/${named.body.id}`, { value: 'plant-secret-value-2' })).status).toBe(200)
  const pod = await scene.create({
    env: { DB_PASSWORD: 'plant-pod-env', NAMED: '{{ RUNPOD_SECRET_NAMED }}' },
    startJupyter: true,
    ports: ['8888/http'],
  })
  const podWorkload = await host.waitFor(({ id }) => id.startsWith(`${pod.id}-`))
  expect(podWorkload.env.NAMED).toBe('plant-secret-value-2')
  await call.patch(`/v2/pods/${pod.id}`, { env: { DB_PASSWORD: 'plant-pod-env-2' } })
  const once = await call.post('/v2/pods', podBody({ env: { K: 'plant-idempotent-env' } }), { 'Idempotency-Key': 'once' })
  expect(once).toMatchObject({ status: 201, body: { env: { K: 'plant-idempotent-env' } } })
  await owner.patch(`/v2/serverless/${queue.endpointId}`, { env: { TOKEN: 'plant-endpoint-env-2' } })
  const signing = (await owner.get('/v2/webhooks/signing-secret')).body.secret
  const previous = (await owner.post('/v2/webhooks/signing-secret/rotate')).body.secret
  expect((await queue.post('/run', { input: {}, s3Config: S3 })).status).toBe(200)
  const worker = await queue.host.startWorker(queue.endpointId)
  const workload = await queue.host.waitFor(({ id }) => id === worker.id)
  const made = {
    jupyter: podWorkload.env.JUPYTER_PASSWORD,
    podKey: podWorkload.platformEnv.RUNPOD_API_KEY,
    workerKey: workload.platformEnv.RUNPOD_AI_API_KEY,
    signing,
    former: previous,
    apiKey: account.key,
    ownerKey: queue.account.key,
  }
  const written = ['endpoint-env', 'template-env', 'registry-user', 'registry-pass', 'pod-env', 'idempotent-env', 'secret-value'].map(
    (name) => `plant-${name}`,
  )
  const secrets = [...Object.values(made), ...written, ...Object.values(S3)].filter((text) => text !== undefined)
  return { scene, queue, pod, templateId, secrets, made }
}

describe('secrets at rest', () => {
  it('[M4][SEAL-2] of all kinds that a tenant plants are in no row of D1 or of an object', async () => {
    const { scene, queue, pod, secrets: ofWorkloads, made } = await plant()
    const around = Object.values(await plantAround(scene))
    expect(around).not.toContain(undefined)
    const secrets = [...ofWorkloads, ...around]
    expect(Object.values(made)).not.toContain(undefined)
    expect(new Set(secrets).size).toBeGreaterThanOrEqual(26)
    const team = await env.DB.prepare('SELECT team_id FROM endpoints WHERE id = ?').bind(queue.endpointId).first<string>('team_id')
    const rows = [
      await d1Rows(),
      await objectRows(hostStub(env, scene.host.id)),
      await objectRows(hostStub(env, queue.host.id)),
      await objectRows(endpointStub(env, queue.endpointId)),
      await objectRows(webhookSenderStub(env, team ?? '')),
    ].join('\n')
    // The scan reads the rows: names of variables are not secret.
    expect(rows).toContain(pod.id)
    expect(rows).toContain('pps1.')
    expect(secrets.filter((secret) => rows.includes(secret))).toEqual([])
    // Their owner reads them as before.
    expect((await scene.get(pod.id)).env).toMatchObject({ DB_PASSWORD: 'plant-pod-env-2' })
    scene.leave()
  })

  it('[M4][END-34] releases show names and hashes: equal values are equal, and a rotated one is not readable', async () => {
    const queue = await setUpQueue({ env: { TOKEN: 'rotated-away', KEPT: 'same' } })
    const { key, userId } = queue.account
    const path = `/v2/serverless/${queue.endpointId}`
    await api(key).patch(path, { env: { TOKEN: 'fresh', KEPT: 'same' } })
    await api(key).patch(path, { env: { TOKEN: 'rotated-away', KEPT: 'same' } })
    const reader = await createKey(userId, { permission: 'READ_ONLY' })
    const { body } = await api(reader.key).get(`${path}/releases`)
    expect(JSON.stringify(body)).not.toMatch(/rotated-away|fresh|same/)
    const [newest, first] = body.releases.map(({ diff }: { diff: { old: unknown; new: unknown }[] }) => diff[0])
    expect(newest).toEqual({ field: 'template.env', old: first.new, new: first.old })
    expect(Object.keys(newest.new)).toEqual(['TOKEN', 'KEPT'])
    // A row from before diffs contained hashes.
    const diff = JSON.stringify([{ field: 'template.env', old: { A: 'old-plain' }, new: { A: 'new-plain' } }])
    await env.DB.prepare('UPDATE releases SET diff = ? WHERE endpoint_id = ?').bind(diff, queue.endpointId).run()
    expect(JSON.stringify((await api(reader.key).get(`${path}/releases`)).body)).not.toMatch(/old-plain|new-plain/)
    // A reader of the endpoint reads its current values (END-9).
    expect((await api(reader.key).get(path)).body.env).toEqual({ TOKEN: 'rotated-away', KEPT: 'same' })
  })

  it('[L7][SEAL-2] sealed values open in their own row only', async () => {
    const [mine, theirs] = [await setUpQueue({ env: { A: 'mine' } }), await setUpQueue({ env: { A: 'theirs' } })]
    const read = (id: string) =>
      env.DB.prepare('SELECT team_id, config FROM endpoints WHERE id = ?').bind(id).first<{ team_id: string; config: string }>()
    const [one, other] = [await read(mine.endpointId), await read(theirs.endpointId)]
    const sealedOf = (row: typeof one) => JSON.parse(row?.config ?? '').container.sealedEnv
    await env.DB.prepare('UPDATE endpoints SET config = replace(config, ?, ?) WHERE id = ?')
      .bind(sealedOf(one), sealedOf(other), mine.endpointId)
      .run()
    await expect(findEndpoint(openRecords(env), one?.team_id ?? '', mine.endpointId)).rejects.toThrow('TOKEN_SECRET_PREVIOUS')
    expect((await findEndpoint(openRecords(env), other?.team_id ?? '', theirs.endpointId))?.container.env).toEqual({ A: 'theirs' })
  })
})

describe('rotation', () => {
  it('[L7][SEAL-3] plain values and those under a previous secret are resealed by the operator, step by step', async () => {
    const { scene, queue, pod, templateId } = await plant()
    const previous = { ...env, TOKEN_SECRET: 'former-secret-of-32-characters-or-so' }
    const seal = vaultOf(previous).seal(['pods', pod.id, 'env', await scene.team()], '{"A":"under-former"}')
    await env.DB.prepare("UPDATE pods SET spec = json_set(spec, '$.container.sealedEnv', ?) WHERE id = ?").bind(seal, pod.id).run()
    const open = `UPDATE templates SET config = json_set(json_remove(config, '$.container.sealedEnv'), '$.container.env', json('{"T":"lies-open"}')) WHERE id = ?`
    await env.DB.prepare(open).bind(templateId).run()
    await runInDurableObject(hostStub(env, queue.host.id), (_object, state) => {
      state.storage.sql.exec(
        `UPDATE workloads SET program = '{"entrypoint":[],"cmd":[],"env":{"P":"lies-open"},"platformEnv":{},"ports":[]}'`,
      )
    })
    // A plane with both secrets reads both.
    const both = { ...env, TOKEN_SECRET_PREVIOUS: previous.TOKEN_SECRET }
    expect((await findPod(openRecords(both), await scene.team(), pod.id))?.spec.container.env).toEqual({ A: 'under-former' })
    await expect(findPod(openRecords(env), await scene.team(), pod.id)).rejects.toThrow('TOKEN_SECRET_PREVIOUS')
    await env.DB.prepare("UPDATE pods SET spec = json_set(spec, '$.container.sealedEnv', ?) WHERE id = ?")
      .bind(vaultOf(env).seal(['pods', pod.id, 'env', await scene.team()], '{"A":"again"}'), pod.id)
      .run()
    // A deleted endpoint leaves nothing to seal, and its row delays nothing else.
    const { id: deletedId } = (await scene.call.post('/v2/serverless', endpointBody())).body
    expect((await scene.call.delete(`/v2/serverless/${deletedId}`)).status).toBe(204)
    const steps = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const reply = await admin().post('/admin/v1/secrets/reseal', { ...(cursor !== undefined && { cursor }) })
      expect(reply.status).toBe(200)
      steps.push(reply.body.step)
      cursor = reply.body.nextCursor
    }
    expect(new Set(steps).size).toBe(12)
    const rows = [await d1Rows(), await objectRows(hostStub(env, queue.host.id))].join('\n')
    expect(rows).not.toContain('lies-open')
    expect((await scene.call.get(`/v2/templates/${templateId}`)).body.env).toEqual({ T: 'lies-open' })
    scene.leave()
  })

  it('[L7][SEAL-4] a value that cannot be opened is named by its id, stays unchanged and delays nothing else', async () => {
    const { scene, queue, pod, templateId } = await plant()
    const registryId = (await scene.call.get('/v2/registries')).body.registries[0].id
    const lost = { ...env, TOKEN_SECRET: 'a-secret-that-everybody-has-lost' }
    const alien = vaultOf(lost).seal(['pods', pod.id, 'env', await scene.team()], '{"A":"lost"}')
    const [first, second] = [await scene.create({ env: { A: '1' } }), await scene.create({ env: { B: '2' } })]
    const set = (table: string, path: string, value: string, id: string) =>
      env.DB.prepare(`UPDATE ${table} SET ${path} WHERE id = ?`).bind(value, id).run()
    const open = `spec = json_set(json_remove(spec, '$.container.sealedEnv'), '$.container.env', json(?))`
    await set('pods', "spec = json_set(spec, '$.container.sealedEnv', ?)", alien, pod.id)
    await set('pods', open, '{"A":"lies-open-1"}', first.id)
    await set('pods', open, '{"A":"lies-open-2"}', second.id)
    await set('endpoints', "config = json_set(config, '$.container.sealedEnv', ?)", alien, queue.endpointId)
    await set('templates', "config = json_set(config, '$.container.sealedEnv', ?)", alien, templateId)
    await set('registries', 'password_sealed = ?', alien, registryId)
    const failed: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { status, body } = await admin().post('/admin/v1/secrets/reseal', { ...(cursor !== undefined && { cursor }) })
      expect(status).toBe(200)
      failed.push(...body.failed)
      cursor = body.nextCursor
    }
    const named = [`pods/${pod.id}`, `endpoints/${queue.endpointId}`, `templates/${templateId}`, `registries/${registryId}`]
    expect(failed).toEqual(named)
    const rows = await d1Rows()
    expect(rows).not.toContain('lies-open')
    expect(rows.split(alien)).toHaveLength(5)
    expect((await scene.get(second.id)).env).toMatchObject({ A: 'lies-open-2' })
    scene.leave()
  })
})
