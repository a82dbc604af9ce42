import { authenticate } from '../../../src/services/authenticate.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { auditRows } from '../../support/access/audited.ts'
import { lookAlikesOf } from '../../support/access/look-alikes.ts'
import { asSession, FakeProvider, ISSUER } from '../../support/access/provider.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  beforeEach,
  createAccount,
  describe,
  env,
  expect,
  it,
  teamOf,
  vi,
} from '../../support/harness.ts'

const PATH = '/v2/serverless'
/** The tables that a first sign-in writes. */
const TABLES = ['users', 'teams', 'memberships', 'identities', 'audit']

let provider: FakeProvider
beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  provider = await FakeProvider.start()
})
afterEach(() => vi.restoreAllMocks())

async function counts(): Promise<(number | undefined)[]> {
  const count = async (table: string) => (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first<{ n: number }>())?.n
  return Promise.all(TABLES.map(count))
}

const rowsOf = async (sql: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(sql)
      .bind(...values)
      .all()
  ).results
const identitiesOf = (userId: string) => rowsOf('SELECT issuer, subject FROM identities WHERE user_id = ?', userId)
/** An issue time later than everything that happens in a test. */
const inMinute = () => Math.floor(Date.now() / 1000) + 60
const withDomains = (domains: string) => ({ ...env, OIDC_EMAIL_DOMAINS: domains })
const forbidden = (detail: unknown) => ({ ok: false, problem: 'accessDenied', detail })

/** Expects 403 with a reason and no new rows. */
async function expectForbidden(token: string, detail: string): Promise<void> {
  const before = await counts()
  const reply = await asSession(token, PATH)
  expect([reply.status, reply.body]).toEqual([403, { title: 'Forbidden', status: 403, detail }])
  expect(await counts()).toEqual(before)
}

describe('at first sign-in', () => {
  it('[OIDC-5] a verified address makes a user with a personal team, noted in the audit log', async () => {
    const sub = crypto.randomUUID()
    const reply = await asSession(await provider.token({ sub, email: `${sub}@Example.COM` }), PATH)
    expect([reply.status, reply.body.endpoints]).toEqual([200, []])
    const [user] = await rowsOf('SELECT id, personal_team_id AS team, deleted_at FROM users WHERE email = ?', `${sub}@example.com`)
    expect(user).toEqual({ id: expect.any(String), team: reply.account, deleted_at: null })
    const userId = String(user?.id)
    expect(await rowsOf('SELECT team_id, role FROM memberships WHERE user_id = ?', userId)).toEqual([
      { team_id: reply.account, role: 'OWNER' },
    ])
    expect(await identitiesOf(userId)).toEqual([{ issuer: ISSUER, subject: sub }])
    expect(await rowsOf('SELECT team_id, actor_kind, action, resource_id, after FROM audit WHERE user_id = ?', userId)).toEqual([
      {
        team_id: reply.account,
        actor_kind: 'SESSION',
        action: 'users.create',
        resource_id: userId,
        after: JSON.stringify({ issuer: ISSUER, subject: sub }),
      },
    ])
  })

  it('[OIDC-5] many simultaneous requests make one user', async () => {
    const sub = crypto.randomUUID()
    const before = await counts()
    const tokens = await Promise.all(
      Array.from({ length: 10 }, () => provider.token({ sub, email: `${sub}@example.com`, jti: crypto.randomUUID() })),
    )
    const answers = await Promise.all(tokens.map((token) => asSession(token, PATH)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ account }) => account)).size).toBe(1)
    expect(await counts()).toEqual(before.map((count) => (count ?? 0) + 1))
  })

  it('[OIDC-5] two simultaneous addresses of one subject make one user, and no half of another', async () => {
    const sub = crypto.randomUUID()
    const before = await counts()
    const tokens = await Promise.all(['a', 'b'].map((name) => provider.token({ sub, email: `${name}-${sub}@example.com` })))
    const answers = await Promise.all(tokens.map((token) => asSession(token, PATH)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await counts()).toEqual(before.map((count) => (count ?? 0) + 1))
  })

  it('[OIDC-5] later tokens of the subject need no address, and change none', async () => {
    const sub = crypto.randomUUID()
    const first = await asSession(await provider.token({ sub }), PATH)
    const before = await counts()
    for (const claims of [{ email: undefined }, { email: 'new@example.com' }, { email_verified: false }]) {
      expect((await asSession(await provider.token({ sub, ...claims }), PATH)).account).toBe(first.account)
    }
    expect(await counts()).toEqual(before)
  })

  it.each([{ email_verified: false }, { email_verified: undefined }, { email_verified: 'true' }, { email_verified: 1 }])(
    '[OIDC-6] %j is 403 with the next step',
    async (claims) => {
      await expectForbidden(
        await provider.token(claims),
        'the e-mail address is not verified: verify it at the identity provider, then sign in again',
      )
    },
  )

  it.each([
    undefined,
    '',
    'ada',
    'ada@',
    '@example.com',
    'a da@example.com',
    'a@b@c',
    'a\u202e@example.com',
    7,
    ['a@example.com'],
    `${'x'.repeat(250)}@example.com`,
  ])('[OIDC-6] the address %j is 403 with the next step', async (email) => {
    await expectForbidden(
      await provider.token({ email }),
      'the token has no e-mail address: request the scope email, or configure the provider to add the claims email and email_verified',
    )
  })
})

describe('with a list of domains', () => {
  const ask = async (domains: string, claims: Record<string, unknown>) => {
    const answer = await authenticate(withDomains(domains), `Bearer ${await provider.token(claims)}`, Date.now())
    return answer.ok || answer
  }
  const mailOf = (domain: string) => `${crypto.randomUUID()}@${domain}`

  it('[OIDC-7] addresses of these sign up, also where the provider does not report verification', async () => {
    expect(await ask('corp.example, @Lab.Example', { email: mailOf('lab.example'), email_verified: undefined })).toBe(true)
    expect(await ask('corp.example', { email: mailOf('CORP.example'), email_verified: true })).toBe(true)
  })

  it.each([false, 'true', null])('[OIDC-7] one for which it reports %j does not', async (verified) => {
    const refusal = await ask('corp.example', { email: mailOf('corp.example'), email_verified: verified })
    expect(refusal).toEqual(forbidden(expect.stringContaining('not verified')))
  })

  it.each([
    ...['other.example', 'sub.corp.example', 'corp.example.evil.example', 'notcorp.example', 'corp.example.'],
    ...['c\u043erp.example', '\uff43orp.example', 'corp\u3002example', 'corp.ex\u0430mple'],
  ])('[OIDC-7] verified addresses of %s do not sign up', async (domain) => {
    const before = await counts()
    const refusal = forbidden(`addresses of ${domain} may not sign up here: ask the operator of the plane for an account`)
    expect(await ask('corp.example', { email: mailOf(domain) })).toEqual(refusal)
    expect(await counts()).toEqual(before)
  })

  it('[OIDC-7] a user whom the operator has made signs in from any domain with a verified address', async () => {
    const { email } = await createAccount()
    expect(await ask('corp.example', { email, email_verified: undefined })).toEqual(forbidden(expect.stringContaining('not verified')))
    expect(await ask('corp.example', { email })).toBe(true)
  })
})

describe('an address of an existing user', () => {
  let account: Account
  beforeEach(async () => {
    account = await createAccount()
  })

  it('[OIDC-8] is linked when it is verified, once for many simultaneous requests', async () => {
    const before = await counts()
    const sub = crypto.randomUUID()
    const { email } = account
    const tokens = await Promise.all(Array.from({ length: 5 }, (_, jti) => provider.token({ sub, email, jti: String(jti) })))
    const answers = await Promise.all(tokens.map((token) => asSession(token, PATH)))
    expect(answers.map((answer) => [answer.status, answer.account])).toEqual(
      await Promise.all(answers.map(async () => [200, await teamOf(account)])),
    )
    expect(await identitiesOf(account.userId)).toEqual([{ issuer: ISSUER, subject: sub }])
    const [users, teams, memberships, identities = 0, audit = 0] = before
    expect(await counts()).toEqual([users, teams, memberships, identities + 1, audit + 1])
  })

  it('[OIDC-8] is not linked when it is not verified', async () => {
    const { email } = account
    await expectForbidden(
      await provider.token({ email, email_verified: false }),
      'the e-mail address is not verified: verify it at the identity provider, then sign in again',
    )
    expect(await identitiesOf(account.userId)).toEqual([])
  })

  it('[OIDC-8] is not linked for an address that only resembles it', async () => {
    const email = `kim.sato-${crypto.randomUUID()}@example.com`
    const { body: user } = await admin().post('/admin/v1/users', { email })
    for (const [what, other] of lookAlikesOf(email)) {
      const { status } = await asSession(await provider.token({ email: other }), PATH)
      expect([200, 403], what).toContain(status)
      expect(await identitiesOf(user.id), what).toEqual([])
    }
    expect((await asSession(await provider.token({ email: email.toUpperCase() }), PATH)).status).toBe(200)
    expect(await identitiesOf(user.id)).toHaveLength(1)
  })

  it('[OIDC-8] is not linked when the provider has given it to another user since', async () => {
    const { email } = account
    const sub = crypto.randomUUID()
    expect((await asSession(await provider.token({ sub, email }), PATH)).status).toBe(200)
    await expectForbidden(
      await provider.token({ email }),
      'the account with this e-mail address is linked to another identity at the provider: contact the operator of the plane',
    )
    expect(await identitiesOf(account.userId)).toEqual([{ issuer: ISSUER, subject: sub }])
  })

  it('[OIDC-15] is linked anew once the operator has freed it, and its previous identity has no user', async () => {
    const { email, userId } = account
    const [previous, next] = [crypto.randomUUID(), crypto.randomUUID()]
    const token = await provider.token({ sub: previous, email })
    expect((await asSession(token, PATH)).account).toBe(await teamOf(account))
    expect((await admin().delete(`/admin/v1/users/${userId}/identities`)).status).toBe(204)
    expect(await identitiesOf(userId)).toEqual([])
    const anew = await asSession(await provider.token({ sub: next, email, iat: inMinute() }), PATH)
    expect([anew.status, anew.account]).toEqual([200, await teamOf(account)])
    expect(await identitiesOf(userId)).toEqual([{ issuer: ISSUER, subject: next }])
    await expectForbidden(
      token,
      'the account with this e-mail address is linked to another identity at the provider: contact the operator of the plane',
    )
    expect((await api(account.key).get(PATH)).status, 'keys go on').toBe(200)
    expect(await auditRows("resource_id = ? AND action = 'users.free-identities'", userId)).toMatchObject([
      { actorKind: 'OPERATOR', before: { identities: [{ issuer: ISSUER, subject: previous }] }, after: { identities: [] } },
    ])
    expect((await admin().delete('/admin/v1/users/nobody/identities')).status).toBe(404)
  })

  it('[OIDC-9] of a deleted user is 403, before and after they have signed in', async () => {
    const { email, userId } = account
    const detail = 'this account was deleted: contact the operator of the plane'
    const sub = crypto.randomUUID()
    const other = await createAccount()
    expect((await asSession(await provider.token({ sub, email }), PATH)).status).toBe(200)
    for (const id of [userId, other.userId]) await env.DB.prepare('UPDATE users SET deleted_at = 1 WHERE id = ?').bind(id).run()
    dropCachedDecisions()
    await expectForbidden(await provider.token({ sub, email }), detail)
    await expectForbidden(await provider.token({ email: other.email }), detail)
  })

  it('[OIDC-9] of a user whose own account was deleted is 403', async () => {
    const token = await provider.token({ email: account.email })
    expect((await asSession(token, PATH)).status).toBe(200)
    await env.DB.prepare('UPDATE teams SET deleted_at = 1 WHERE id = ?')
      .bind(await teamOf(account))
      .run()
    dropCachedDecisions()
    await expectForbidden(token, 'this account was deleted: contact the operator of the plane')
  })

  it('[OIDC-9] leaves no cached refusal once that can have changed', async () => {
    const token = `Bearer ${await provider.token({ email: account.email })}`
    await env.DB.prepare('UPDATE users SET deleted_at = 1 WHERE id = ?').bind(account.userId).run()
    const nowMs = Date.now()
    expect((await authenticate(env, token, nowMs)).ok).toBe(false)
    await env.DB.prepare('UPDATE users SET deleted_at = NULL WHERE id = ?').bind(account.userId).run()
    expect((await authenticate(env, token, nowMs + 5_000)).ok).toBe(true)
  })
})

describe('the operator', () => {
  it('[OIDC-5] sees among the users who has signed in', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    await asSession(await provider.token({ email }), PATH)
    const listed = await admin().get(`/admin/v1/users?email=${email}`)
    expect(listed.body.users).toMatchObject([{ email }])
  })
})
