import { Key } from '../../../../src/contract/accounts/keys.ts'
import { Host } from '../../../../src/contract/hosts/hosts.ts'
import { parseApiKey } from '../../../../src/domain/key-text.ts'
import { sha256Hex } from '../../../../src/platform/crypto.ts'
import { admin, api, createAccount, createKey, describe, env, expect, it } from '../../../support/harness.ts'

const email = () => `${crypto.randomUUID()}@example.com`

describe('operator key', () => {
  it('[AUT-4a] no other credential opens the operator API, not even an API key', async () => {
    const { key } = await createAccount()
    for (const token of [null, 'x', key, `${env.OPERATOR_KEY}x`, env.OPERATOR_KEY.slice(0, -1)]) {
      const reply = await api(token).get('/admin/v1/users')
      expect(reply.status, String(token)).toBe(401)
      expect(reply.headers.get('content-type')).toBe('application/problem+json')
    }
    expect((await api(null).get('/admin/v1/nosuch')).status).toBe(401)
    expect((await admin().get('/admin/v1/nosuch')).status).toBe(404)
    expect((await admin().delete('/admin/v1/users')).headers.get('allow')).toBe('POST, GET')
  })
})

it('[ADM-3] has no rate limit, and the size limit of bodies', async () => {
  const large = await admin().post('/admin/v1/users', { email: 'a'.repeat(102_400) })
  expect(large).toMatchObject({ status: 413, body: { detail: 'request body exceeds 102400 bytes' } })
  const headers = (await admin().get('/admin/v1/users')).headers
  expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
})

describe('users', () => {
  it('[ADM-1][GEN-1] creates, finds and refuses a taken address in any case of letters', async () => {
    const address = email()
    const created = await admin().post('/admin/v1/users', { email: address.toUpperCase() })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ id: expect.stringMatching(/^[a-z0-9]{14}$/), email: address, createdAt: expect.stringMatching(/Z$/) })
    expect((await admin().get(`/admin/v1/users?email=${address}`)).body).toEqual({ users: [created.body] })
    expect((await admin().get('/admin/v1/users?email=nobody@example.com')).body).toEqual({ users: [] })
    expect((await admin().get('/admin/v1/users')).body.users).toContainEqual(created.body)
    expect(await admin().post('/admin/v1/users', { email: address })).toMatchObject({ status: 409, body: { detail: 'email is taken' } })
  })

  it('[ADM-1] gives one address to one of two simultaneous requests', async () => {
    const address = email()
    const replies = await Promise.all([
      admin().post('/admin/v1/users', { email: address }),
      admin().post('/admin/v1/users', { email: address }),
    ])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('refuses an invalid address, and unknown members', async () => {
    for (const body of [{}, { email: 'x' }, { email: 'a@b', role: 'x' }, { email: 'a\n@b' }]) {
      expect((await admin().post('/admin/v1/users', body)).status).toBe(422)
    }
  })
})

describe('keys', () => {
  it('[AUT-1] shows a key once and stores a hash', async () => {
    const { userId, keyId, key } = await createAccount()
    expect(parseApiKey(key)?.id).toBe(keyId)
    const list = await admin().get(`/admin/v1/users/${userId}/keys`)
    expect(list.body.keys).toEqual([
      {
        id: keyId,
        name: 'test',
        permission: 'ALL',
        scopes: [],
        createdAt: expect.any(String),
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
      },
    ])
    expect(Key.parse(list.body.keys[0])).toEqual(list.body.keys[0])
    const row = await env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(keyId).first()
    expect(JSON.stringify(row)).not.toContain(parseApiKey(key)?.secret)
    expect(row?.secret_hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('[AUT-4a] takes permission, scopes and expiry', async () => {
    const { userId } = await createAccount()
    const { id } = await createKey(userId, {
      permission: 'RESTRICTED',
      scopes: ['jobs:write@abc123'],
      expiresAt: '2040-01-01T02:00:00+02:00',
    })
    const { keys } = (await admin().get(`/admin/v1/users/${userId}/keys`)).body
    expect(keys.find((row: { id: string }) => row.id === id)).toMatchObject({
      permission: 'RESTRICTED',
      scopes: ['jobs:write@abc123'],
      expiresAt: '2040-01-01T00:00:00Z',
    })
  })

  it('[KEY-4] refuses invalid scopes, scopes without RESTRICTED, and unknown users', async () => {
    const { userId } = await createAccount()
    const path = `/admin/v1/users/${userId}/keys`
    for (const scope of ['pods:admin', 'pods:read@x', 'billing:write', '*', 'jobs:write@']) {
      expect((await admin().post(path, { name: 'k', permission: 'RESTRICTED', scopes: [scope] })).status, scope).toBe(422)
    }
    expect((await admin().post(path, { name: 'k', expiresAt: 'tomorrow' })).status).toBe(422)
    expect((await admin().post(path, { name: 'k', scopes: ['pods:read'] })).status).toBe(400)
    expect((await admin().post(path, { name: 'k', permission: 'RESTRICTED' })).status).toBe(400)
    expect((await admin().post('/admin/v1/users/nosuch/keys', { name: 'k' })).status).toBe(404)
    expect((await admin().get('/admin/v1/users/nosuch/keys')).status).toBe(404)
  })

  it('[AUT-4a] revokes once', async () => {
    const { userId, keyId } = await createAccount()
    expect((await admin().delete(`/admin/v1/keys/${keyId}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/keys/${keyId}`)).status).toBe(404)
    expect((await admin().get(`/admin/v1/users/${userId}/keys`)).body.keys[0].revokedAt).toMatch(/Z$/)
  })
})

describe('quotas', () => {
  it('[AUT-4a] are set and returned', async () => {
    const { userId } = await createAccount()
    const body = { minute: 1, hour: 2, day: 3, exempt: false }
    expect(await admin().put(`/admin/v1/users/${userId}/quotas`, body)).toMatchObject({ status: 200, body })
    expect((await admin().put(`/admin/v1/users/${userId}/quotas`, { ...body, minute: 0 })).status).toBe(422)
    expect((await admin().put(`/admin/v1/users/${userId}/quotas`, { minute: 1 })).status).toBe(422)
    expect((await admin().put('/admin/v1/users/nosuch/quotas', body)).status).toBe(404)
  })
})

describe('join tokens', () => {
  it('are random, live 30 minutes and are stored as a hash', async () => {
    const before = Date.now()
    const reply = await admin().post('/admin/v1/join-tokens', {})
    expect(reply.status).toBe(201)
    expect(reply.body.token).toMatch(/^ppj_[0-9a-z]{40}$/)
    const minutes = (Date.parse(reply.body.expiresAt) - before) / 60_000
    expect(minutes).toBeGreaterThan(29.9)
    expect(minutes).toBeLessThan(30.1)
    const row = await env.DB.prepare('SELECT * FROM join_tokens WHERE token_hash = ?')
      .bind(await sha256Hex(reply.body.token))
      .first()
    expect(row).toMatchObject({ data_center_id: 'LOCAL-1', name: null, used_at: null })
  })

  it('[REST-2] take a data center and a name', async () => {
    expect((await admin().post('/admin/v1/join-tokens', { dataCenterId: 'EU-RO-1', name: 'gpu-07' })).status).toBe(201)
    for (const body of [{ dataCenterId: 'a b' }, { dataCenterId: 'x' }, { name: '' }, { extra: 1 }]) {
      expect((await admin().post('/admin/v1/join-tokens', body)).status).toBe(422)
    }
  })
})

describe('hosts', () => {
  it('[AUT-4a] [HOST-163] lists, reads and removes a host that holds nothing; refuses while it holds a workload', async () => {
    const id = `host${crypto.randomUUID().slice(0, 8)}`
    await insertHost(id)
    const read = await admin().get(`/admin/v1/hosts/${id}`)
    expect(read.body).toEqual({
      id,
      name: 'gpu-07',
      dataCenterId: 'LOCAL-1',
      cloud: 'SECURE',
      status: 'ONLINE',
      health: 'HEALTHY',
      statusReason: null,
      cordon: null,
      draining: false,
      workloads: { workers: 0, pods: 0 },
      simulated: true,
      gpus: [{ typeId: 'NVIDIA L4', total: 2, free: 1, simulated: true, driverVersion: null, cudaVersion: '12.8' }],
      vcpu: { total: 16, free: 8 },
      memoryGb: { total: 64, free: 32.5 },
      diskGb: { total: 500, free: 400 },
      runtimes: ['process'],
      sharedVolumes: null,
      sizesEnforced: null,
      isolation: { runtimeClass: null, userNamespaces: null, network: null, networkReason: null, trustedTenants: false, missing: [] },
      privateNetworks: null,
      workerTransports: null,
      gpuProblems: [],
      publicIp: null,
      portRange: { from: 30_000, to: 32_767 },
      createdAt: '2026-06-01T12:00:00Z',
      lastSeenAt: null,
      linkReplacements: null,
    })
    expect(Host.parse(read.body)).toEqual(read.body)
    expect((await admin().get('/admin/v1/hosts')).body.hosts).toContainEqual(read.body)

    // As the agent reports it, without the members that only other hosts need.
    const overlay = { address: '10.1.2.3', reason: null, encryption: 'none', encryptionReason: 'the kernel has no WireGuard', mtu: 1_450 }
    await env.DB.prepare("UPDATE hosts SET inventory = json_set(inventory, '$.overlay', json(?)) WHERE id = ?")
      .bind(JSON.stringify({ ...overlay, publicKey: `${'a'.repeat(43)}=` }), id)
      .run()
    expect((await admin().get(`/admin/v1/hosts/${id}`)).body.privateNetworks).toEqual(overlay)

    await env.DB.prepare(
      "INSERT INTO allocations (id, team_id, host_id, kind, owner_id, gpu_count, vcpu, memory_mb, disk_gb, created_at) VALUES ('a1', 't', ?, 'worker', 'e', 1, 1, 1, 1, 1)",
    )
      .bind(id)
      .run()
    expect(await admin().delete(`/admin/v1/hosts/${id}`)).toMatchObject({ status: 409, body: { code: 'IN_USE' } })
    await env.DB.prepare('DELETE FROM allocations WHERE host_id = ?').bind(id).run()
    expect((await admin().delete(`/admin/v1/hosts/${id}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/hosts/${id}`)).status).toBe(404)
    expect((await admin().get(`/admin/v1/hosts/${id}`)).status).toBe(404)
    expect(await env.DB.prepare('SELECT status FROM hosts WHERE id = ?').bind(id).first()).toEqual({ status: 'REMOVED' })
  })
})

async function insertHost(id: string): Promise<void> {
  const inventory = {
    agentVersion: '0',
    protocolVersion: 1,
    os: 'linux',
    vcpus: 16,
    memoryMb: 65536,
    diskGb: 500,
    gpus: [{ typeId: 'NVIDIA L4', count: 2, memoryMb: 24576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
    runtimes: ['process'],
    simulated: true,
  }
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free, memory_mb_total,
        memory_mb_free, disk_gb_total, disk_gb_free, created_at) VALUES (?, 'gpu-07', 'LOCAL-1', 'ONLINE', 'x', 1, ?, 16, 8, 65536, 33280, 500, 400, ?)`,
    ).bind(id, JSON.stringify(inventory), Date.UTC(2026, 5, 1, 12)),
    env.DB.prepare("INSERT INTO host_gpus (host_id, gpu_type_id, cuda_version, total, free) VALUES (?, 'NVIDIA L4', '12.8', 2, 1)").bind(
      id,
    ),
  ])
}
