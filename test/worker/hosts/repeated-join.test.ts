import { generateKeyPair } from 'jose'
import { admin, describe, env, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

const newKeys = () => generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
const newToken = async (): Promise<{ id: string; token: string }> => (await admin().post('/admin/v1/join-tokens', { name: 'again' })).body
const hostsWith = (tokenId: string) =>
  env.DB.prepare('SELECT id FROM hosts WHERE id IN (SELECT used_by_host_id FROM join_tokens WHERE id = ?)').bind(tokenId).all()
const countHosts = async () => (await env.DB.prepare('SELECT COUNT(*) AS n FROM hosts').first<{ n: number }>())?.n ?? 0
const enrolments = async () =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM audit WHERE action = 'hosts.enrol'").first<{ n: number }>())?.n ?? 0

async function ask(token: string, keys: Keys): Promise<{ status: number; hostId: string; accessToken: string; epoch: number }> {
  const reply = await FakeHost.askToEnrol(token, {}, undefined, keys)
  return { status: reply.status, ...((await reply.json()) as { hostId: string; accessToken: string; epoch: number }) }
}

describe('a join that is repeated', () => {
  it('[DUR-4] with the same key and the same token returns the same host, with a valid token, and no second row of anything', async () => {
    const [hosts, notes] = [await countHosts(), await enrolments()]
    const host = await FakeHost.enrol()
    const again = await host.enrolAgain()
    expect(again.status).toBe(200)
    const { hostId, epoch, accessToken } = (await again.json()) as { hostId: string; epoch: number; accessToken: string }
    expect([hostId, epoch]).toEqual([host.id, 1])
    expect([await countHosts(), await enrolments()]).toEqual([hosts + 1, notes + 1])
    host.accessToken = accessToken
    expect(await host.callStatus('events')).toBe(200)
  })

  it('[DUR-4] is accepted after the token has expired, because the host may be without power for long', async () => {
    const [{ id, token }, keys] = [await newToken(), await newKeys()]
    const { hostId } = await ask(token, keys)
    await env.DB.prepare('UPDATE join_tokens SET expires_at = 1 WHERE id = ?').bind(id).run()
    expect(await ask(token, keys)).toMatchObject({ status: 200, hostId })
  })

  it('[DUR-4] [HOST-1] with another key is refused, before and after', async () => {
    const [{ id, token }, keys] = [await newToken(), await newKeys()]
    const { hostId } = await ask(token, keys)
    expect((await ask(token, await newKeys())).status).toBe(401)
    expect(await ask(token, keys)).toMatchObject({ status: 200, hostId })
    expect((await hostsWith(id)).results).toEqual([{ id: hostId }])
  })

  it('[DUR-4] is refused once the host has linked, also with the same key', async () => {
    const host = await FakeHost.enrol()
    expect((await host.enrolAgain()).status).toBe(200)
    await host.link()
    expect((await host.enrolAgain()).status).toBe(401)
  })

  it('[DUR-4] is refused when the host was removed', async () => {
    const [{ token }, keys] = [await newToken(), await newKeys()]
    const { hostId } = await ask(token, keys)
    expect((await admin().delete(`/admin/v1/hosts/${hostId}`)).status).toBe(204)
    expect((await ask(token, keys)).status).toBe(401)
  })
})

describe('simultaneous joins with one token', () => {
  it('[DUR-4] [HOST-1] of two keys one gets it, and only that key may repeat', async () => {
    const [{ id, token }, keys, others] = [await newToken(), await newKeys(), await newKeys()]
    const hosts = await countHosts()
    const replies = await Promise.all([ask(token, keys), ask(token, others)] as const)
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 401])
    const isFirst = replies[0].status === 200
    const hostId = replies.find(({ status }) => status === 200)?.hostId
    expect((await hostsWith(id)).results).toEqual([{ id: hostId }])
    expect(await countHosts()).toBe(hosts + 1)
    expect(await ask(token, isFirst ? keys : others)).toMatchObject({ status: 200, hostId })
    expect((await ask(token, isFirst ? others : keys)).status).toBe(401)
  })

  it('[DUR-4] of one key, five times, all get the same host', async () => {
    const [{ token }, keys] = [await newToken(), await newKeys()]
    const hosts = await countHosts()
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(token, keys)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(replies.map(({ hostId }) => hostId)).size).toBe(1)
    expect(await countHosts()).toBe(hosts + 1)
  })
})
