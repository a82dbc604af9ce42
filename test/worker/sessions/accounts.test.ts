import { ROLES, type Role, SCOPES, scopesOfRole } from '../../../src/domain/access.ts'
import { STREAM_CHECKS } from '../../../src/http/watched/watched-stream.ts'
import { authenticate, isStillGood } from '../../../src/services/authenticate.ts'
import type { Visit } from '../../../src/services/credentials/authentication.ts'
import { DECISION_TTL_MS, dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { asSession, FakeProvider } from '../../support/access/provider.ts'
import {
  type Account,
  admin,
  afterEach,
  beforeEach,
  createAccount,
  createEndpoint,
  describe,
  endpointBody,
  env,
  expect,
  it,
  joinTeam,
  send,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { EventReader } from '../../support/http/event-reader.ts'
import { runAndTake, setUpQueue } from '../../support/queue/queue.ts'

const PATH = '/v2/serverless'
const PREVIOUS = { ...STREAM_CHECKS }

let provider: FakeProvider
let member: Account
let owner: Account
let own: string
let team: string
let token: string

beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  provider = await FakeProvider.start()
  member = await createAccount()
  owner = await createAccount()
  own = await teamOf(member)
  team = await teamOf(owner)
  token = await provider.token({ email: member.email })
})
afterEach(() => {
  Object.assign(STREAM_CHECKS, PREVIOUS)
  vi.restoreAllMocks()
})

const visit = (askedTeam: string | null): Visit => ({ askedTeam, source: () => 'a', waitUntil: () => undefined })
const teamAt = async (nowMs: number, asked: string | null) => {
  const answer = await authenticate(env, `Bearer ${token}`, nowMs, visit(asked))
  return answer.ok ? answer.principal.teamId : answer.problem
}
const leave = (userId: string) => env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, userId).run()

describe('X-Team-Id of a session', () => {
  it.each(ROLES)('[AUT-7] a team in which the user is %s is acted for', async (role) => {
    await joinTeam(team, member, role)
    const endpointId = await createEndpoint(owner.key)
    const reply = await asSession(token, `${PATH}/${endpointId}`, team)
    expect([reply.status, reply.account]).toEqual([scopesOfRole(role).has('serverless:read') ? 200 : 403, team])
  })

  it.each([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['unknown', () => 'aaaaaaaaaaaaaa'],
    ['foreign', () => team],
    ['malformed', () => '%00 ; DROP TABLE teams'],
    ['two of them', () => `${own}, ${team}`],
    ['of another case', () => own.toUpperCase()],
    ['overlong', () => 'x'.repeat(4000)],
    ["the user's own", () => own],
  ])('[AUT-7] %s: the own account, without an error', async (_name, asked) => {
    const foreign = await createEndpoint(owner.key)
    const mine = await createEndpoint(member.key)
    const list = await asSession(token, PATH, asked())
    expect([list.status, list.account, list.body.endpoints.map(({ id }: { id: string }) => id)]).toEqual([200, own, [mine]])
    const otherTenant = await asSession(token, `${PATH}/${foreign}`, asked(), { method: 'DELETE' })
    expect([otherTenant.status, otherTenant.account]).toEqual([404, own])
    expect(await env.DB.prepare('SELECT deleted_at FROM endpoints WHERE id = ?').bind(foreign).first()).toEqual({ deleted_at: null })
  })

  it('[AUT-7] [UI-11] a team that was joined since is acted for within a second; a foreign one costs a query a second', async () => {
    const nowMs = Date.now()
    expect(await teamAt(nowMs, team)).toBe(own)
    await joinTeam(team, member, 'DEV')
    const checks = vi.spyOn(env.DB, 'prepare')
    expect([await teamAt(nowMs + 900, team), checks.mock.calls.length]).toEqual([own, 0])
    expect(await teamAt(nowMs + 1_000, team)).toBe(team)
    checks.mockClear()
    expect([await teamAt(nowMs + 50_000, team), checks.mock.calls.length]).toEqual([team, 0])
  })

  it('[AUT-7] a deleted team: the own account', async () => {
    await joinTeam(team, member, 'DEV')
    expect((await asSession(token, PATH, team)).account).toBe(team)
    await env.DB.prepare('UPDATE teams SET deleted_at = 1 WHERE id = ?').bind(team).run()
    dropCachedDecisions()
    expect((await asSession(token, PATH, team)).account).toBe(own)
  })

  it('[AUT-7] the account is named on every reply to a session, refusals too, and on none to a key', async () => {
    await joinTeam(team, member, 'BASIC')
    const body = JSON.stringify(endpointBody())
    const create = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }
    const answers = [
      await asSession(token, PATH, team, create),
      await asSession(token, `${PATH}/aaaaaaaaaaaaaa`, team),
      await asSession(token, `${PATH}/x/y/z`, team),
      await asSession(token, PATH, team, { ...create, body: '{' }),
      await asSession(token, '/v2/aaaaaaaaaaaaaa/health', team),
      await asSession(token, '/v2/aaaaaaaaaaaaaa/run', team),
    ]
    expect(answers.map(({ status, account }) => [status, account])).toEqual([403, 404, 404, 403, 404, 405].map((status) => [status, team]))
    const byKey = await asSession(member.key, PATH, team)
    expect([byKey.status, byKey.account]).toEqual([200, null])
  })
})

describe('a session', () => {
  it.each(ROLES)('[OIDC-10] has the scopes of %s in the account that it acts for, and of OWNER in the own one', async (role) => {
    await joinTeam(team, member, role)
    const scopes = async (asked: string | null) => {
      const answer = await authenticate(env, `Bearer ${token}`, Date.now(), visit(asked))
      return answer.ok && [answer.principal.via, answer.principal.userId, [...answer.principal.scopes].sort()]
    }
    expect(await scopes(team)).toEqual(['SESSION', member.userId, [...scopesOfRole(role)].sort()])
    expect(await scopes(null)).toEqual(['SESSION', member.userId, [...SCOPES].sort()])
  })

  it('[OIDC-10] creates, calls and reads as a key does, within its own account', async () => {
    await joinTeam(team, member, 'DEV')
    const queue = await setUpQueue()
    const otherTenant = await asSession(token, `/v2/${queue.endpointId}/health`, team)
    expect([otherTenant.status, otherTenant.account]).toEqual([404, team])
    const mine = await createEndpoint(owner.key)
    const submit = { method: 'POST', body: JSON.stringify({ input: {} }) }
    const job = await asSession(token, `/v2/${mine}/run`, team, submit)
    expect([job.status, job.account, job.body]).toEqual([200, team, { id: expect.any(String), status: 'IN_QUEUE' }])
    expect((await asSession(token, `/v2/${mine}/run`, undefined, submit)).status).toBe(404)
    await joinTeam(team, member, 'BILLING')
    dropCachedDecisions()
    const refused = await asSession(token, `/v2/${mine}/run`, team, submit)
    expect([refused.status, refused.body.detail]).toEqual([401, 'this session lacks the scope jobs:write'])
  })

  it('[OIDC-10] uses the requests of its user, as a key of theirs does', async () => {
    const frugal = await createAccount({ exempt: false })
    const session = await provider.token({ email: frugal.email })
    const left = async (bearer: string) => {
      const reply = await asSession(bearer, PATH)
      return Number(/"minute";r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1])
    }
    const before = await left(frugal.key)
    expect([await left(session), await left(frugal.key)]).toEqual([before - 1, before - 2])
  })

  it('[OIDC-10][DER-40] is 403 for a suspended account, and valid for others of its user', async () => {
    await joinTeam(team, member, 'DEV')
    await admin().post(`/admin/v1/users/${owner.userId}/suspend`)
    const refused = await asSession(token, PATH, team)
    expect([refused.status, refused.account, refused.body.detail]).toEqual([403, team, expect.stringContaining('suspended')])
    expect((await asSession(token, PATH)).status).toBe(200)
  })

  it('[OIDC-10][DER-40] of a suspended user acts for no account', async () => {
    await joinTeam(team, member, 'DEV')
    await admin().post(`/admin/v1/users/${member.userId}/suspend`)
    expect([(await asSession(token, PATH)).status, (await asSession(token, PATH, team)).status]).toEqual([403, 403])
  })
})

describe('the cache of an isolate for a session', () => {
  it('[OIDC-11] needs no D1 query while it is warm for teams of its user, and at most one a second for others', async () => {
    await joinTeam(team, member, 'DEV')
    const nowMs = Date.now()
    expect(await teamAt(nowMs, null)).toBe(own)
    const prepare = vi.spyOn(env.DB, 'prepare')
    for (const asked of [null, team, own]) await teamAt(nowMs + DECISION_TTL_MS - 1, asked)
    expect(prepare).not.toHaveBeenCalled()
    await teamAt(nowMs + DECISION_TTL_MS, team)
    expect(prepare).toHaveBeenCalledTimes(1)
    for (const asked of ['aaaaaaaaaaaaaa', 'x', 'y']) await teamAt(nowMs + DECISION_TTL_MS + 1_000, asked)
    expect(prepare).toHaveBeenCalledTimes(2)
  })

  it('[OIDC-11] contains nothing of an ended token', async () => {
    const exp = Math.floor(Date.now() / 1000) + 30
    token = await provider.token({ email: member.email, exp })
    expect(await teamAt(exp * 1000 - 1, null)).toBe(own)
    expect(await teamAt(exp * 1000, null)).toBe('invalidToken')
  })

  it.each([
    ['a membership ends', () => leave(member.userId), () => own],
    ['a team is deleted', () => env.DB.prepare('UPDATE teams SET deleted_at = 1 WHERE id = ?').bind(team).run(), () => own],
    [
      'a user is deleted',
      () => env.DB.prepare('UPDATE users SET deleted_at = 1 WHERE id = ?').bind(member.userId).run(),
      () => 'accessDenied',
    ],
  ])('[OIDC-12] follows within 60 s everywhere, and at once where it was done, when %s', async (_name, change, account) => {
    await joinTeam(team, member, 'ADMIN')
    const nowMs = Date.now()
    expect(await teamAt(nowMs, team)).toBe(team)
    // As in another isolate: the cache of this one is not cleared.
    await change()
    expect(await teamAt(nowMs + DECISION_TTL_MS - 1, team)).toBe(team)
    expect(await teamAt(nowMs + DECISION_TTL_MS, team)).toBe(account())
    dropCachedDecisions()
    expect(await teamAt(nowMs, team)).toBe(account())
  })

  it('[OIDC-12] follows a changed role within 60 s everywhere, and at once where it was done', async () => {
    const scopesAt = async (nowMs: number) => {
      const answer = await authenticate(env, `Bearer ${token}`, nowMs, visit(team))
      return answer.ok && answer.principal.scopes
    }
    await joinTeam(team, member, 'ADMIN')
    const nowMs = Date.now()
    expect(await scopesAt(nowMs)).toBe(scopesOfRole('ADMIN'))
    await joinTeam(team, member, 'BASIC')
    expect(await scopesAt(nowMs + DECISION_TTL_MS - 1)).toBe(scopesOfRole('ADMIN'))
    expect(await scopesAt(nowMs + DECISION_TTL_MS)).toBe(scopesOfRole('BASIC'))
    await joinTeam(team, member, 'DEV')
    dropCachedDecisions()
    expect(await scopesAt(nowMs)).toBe(scopesOfRole('DEV'))
  })

  it.each([
    ['token', () => `Bearer ${token}`],
    ['key', () => `Bearer ${member.key}`],
  ])('[OIDC-12] does not store a look-up by %s that was in progress while something changed', async (_kind, header) => {
    const nowMs = Date.now()
    const prepare = env.DB.prepare.bind(env.DB)
    vi.spyOn(env.DB, 'prepare').mockImplementationOnce((query) => {
      dropCachedDecisions()
      return prepare(query)
    })
    expect((await authenticate(env, header(), nowMs, visit(null))).ok).toBe(true)
    await env.DB.prepare('UPDATE teams SET suspended_at = 1 WHERE id = ?').bind(own).run()
    expect(await authenticate(env, header(), nowMs, visit(null))).toMatchObject({ ok: false, problem: 'accountSuspended' })
  })
})

describe('an open stream of a session', () => {
  it.each<[string, (userId: string, teamId: string) => Promise<unknown>]>([
    [
      'the membership ends',
      (userId, teamId) => env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(teamId, userId).run(),
    ],
    ['the role changes', (userId, teamId) => joinTeam(teamId, { userId }, 'BASIC' satisfies Role)],
  ])('[OIDC-12][DER-42] ends when %s', async (_name, change) => {
    Object.assign(STREAM_CHECKS, { everyMs: 20, maxAgeMs: 0 })
    const queue = await setUpQueue()
    const teamId = await teamOf(queue.account)
    await joinTeam(teamId, member, 'DEV')
    const { jobId } = await runAndTake(queue)
    const headers = { Authorization: `Bearer ${token}`, 'X-Team-Id': teamId, Accept: 'text/event-stream' }
    const stream = new EventReader(await send(`/v2/${queue.endpointId}/stream/${jobId}`, { headers }))
    await change(member.userId, teamId)
    expect(await stream.rest()).not.toContain('event: end')
  })

  it('[OIDC-12][KEY-11] costs, for many of one session, one D1 query a minute together', async () => {
    const header = `Bearer ${token}`
    const caller = await authenticate(env, header, Date.now())
    if (!caller.ok) throw new Error(caller.problem)
    dropCachedDecisions()
    const prepare = vi.spyOn(env.DB, 'prepare')
    const startMs = Date.now()
    for (let nowMs = startMs; nowMs < startMs + 600_000; nowMs += PREVIOUS.everyMs) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => isStillGood(env, header, caller.principal, nowMs, PREVIOUS.maxAgeMs)),
      )
      expect(new Set(answers)).toEqual(new Set([true]))
    }
    expect(prepare.mock.calls.length).toBeGreaterThan(9)
    expect(prepare.mock.calls.length).toBeLessThanOrEqual(11)
  })
})
