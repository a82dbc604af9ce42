import { dropDelegatedTokens } from '../../../../src/effects/ecr/delegated-token.ts'
import { sessionName } from '../../../../src/effects/ecr/session-name.ts'
import { pullWith } from '../../../../src/effects/registry-login.ts'
import type { Env } from '../../../../src/env.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  beforeEach,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
  vi,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { AWS_VARS, FakeAws } from '../../../support/http/fake-aws.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'
import { SOON } from '../../../support/time.ts'

const PATH = '/v2/registries/delegations'
const HOST = '123456789012.dkr.ecr.us-east-1.amazonaws.com'
const ARN = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
const IMAGE = `${HOST}/team/models:v1`
const WITHOUT = { ok: true, login: null }

let plane: Env
beforeEach(() => {
  dropDelegatedTokens()
  plane = { ...env, ...AWS_VARS }
})
afterEach(() => vi.restoreAllMocks())

async function delegate(account: Account, resource = ARN): Promise<string> {
  const reply = await api(account.key).post(PATH, { resource })
  expect(reply.status).toBe(201)
  return reply.body.id
}

const pull = async (account: Account, image = IMAGE, registry: string | null = null) =>
  pullWith(plane, await teamOf(account), { image, registry })
const refused = (why: string) => ({
  ok: false,
  reason: `the image is pulled by delegation, but this plane could not get a token for ${ARN}: ${why}`,
})

describe('pulls by delegation', () => {
  it('[REG-5][REG-7] get a token of a role session that names the delegator and permits only pulls of that repository', async () => {
    const account = await createAccount()
    await delegate(account)
    const aws = FakeAws.start()
    expect(await pull(account)).toEqual({ ok: true, login: { host: HOST, username: 'AWS', password: 'token-canary-2' } })
    const policy = {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: 'ecr:GetAuthorizationToken', Resource: '*' },
        {
          Effect: 'Allow',
          Action: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
          Resource: ARN,
        },
      ],
    }
    const assume = { Action: 'AssumeRole', Version: '2011-06-15', RoleArn: AWS_VARS.ECR_ROLE_ARN, DurationSeconds: '3600' }
    expect(aws.calls).toEqual([
      {
        host: 'sts.us-east-1.amazonaws.com',
        signedBy: 'AKIDEXAMPLE',
        body: { ...assume, RoleSessionName: `${await teamOf(account)}-${account.userId}`, Policy: JSON.stringify(policy) },
      },
      { host: 'api.ecr.us-east-1.amazonaws.com', signedBy: 'ASIASESSION', body: {} },
    ])
  })

  it('[REG-5] are not used for other images, other accounts and containers with a credential of their own', async () => {
    const [account, otherTenant] = [await createAccount(), await createAccount()]
    await delegate(account)
    const aws = FakeAws.start()
    const others = [
      `${HOST}/team/other:v1`,
      `${HOST}/team/models/more:v1`,
      '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/models:v1',
      '210987654321.dkr.ecr.us-east-1.amazonaws.com/team/models:v1',
      `${HOST}.evil.example/team/models:v1`,
      `${HOST}:443/team/models:v1`,
      'ghcr.io/team/models:v1',
    ]
    for (const image of others) expect(await pull(account, image), image).toEqual(WITHOUT)
    expect(await pull(otherTenant)).toEqual(WITHOUT)
    expect(await pull(account, IMAGE, 'nosuchcredential')).toEqual(WITHOUT)
    expect(aws.calls).toEqual([])
  })

  it('[REG-5] end with the delegation, also in spite of a cache', async () => {
    const account = await createAccount()
    const id = await delegate(account)
    FakeAws.start()
    expect(await pull(account)).toMatchObject({ ok: true, login: { username: 'AWS' } })
    await api(account.key).delete(`${PATH}/${id}`)
    expect(await pull(account)).toEqual(WITHOUT)
  })

  it('[REG-8] cache a token for each delegator until it nearly expires', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    for (const one of [account, other]) await delegate(one)
    const aws = FakeAws.start()
    const first = await pull(account)
    expect(await pull(account, `${HOST}/team/models:v2`)).toEqual(first)
    expect(aws.calls).toHaveLength(2)
    expect(await pull(other)).not.toEqual(first)
    expect(aws.calls).toHaveLength(4)
    dropDelegatedTokens()
    aws.expiresAtMs = Date.now() + 14 * 60_000
    await pull(account)
    await pull(account)
    expect(aws.calls).toHaveLength(8)
  })

  it.each<[string, string, (aws: FakeAws) => void]>([
    [
      'the role may not be assumed',
      'AWS answers AssumeRole with 403 AccessDenied',
      (aws) => {
        const body =
          '<ErrorResponse><Error><Code>AccessDenied</Code><Message>arn:aws:iam::999:user/secret-canary</Message></Error></ErrorResponse>'
        aws.refusal = { host: /^sts/, status: 403, body }
      },
    ],
    [
      'ECR refuses',
      'AWS answers GetAuthorizationToken with 400 AccessDeniedException',
      (aws) => {
        aws.refusal = { host: /^api\.ecr/, status: 400, body: '{"__type":"com.amazon#AccessDeniedException","message":"secret-canary"}' }
      },
    ],
    [
      'a reply contains no token',
      'the response of AWS to GetAuthorizationToken has no token',
      (aws) => {
        aws.refusal = { host: /^api\.ecr/, status: 200, body: '{"authorizationData":[{"authorizationToken":"????","expiresAt":1}]}' }
      },
    ],
    [
      'a reply is too long',
      'AWS cannot be reached',
      (aws) => {
        aws.refusal = { host: /^sts/, status: 200, body: 'x'.repeat(70_000) }
      },
    ],
    ['AWS is unavailable', 'AWS cannot be reached', (aws) => Object.assign(aws, { isDown: true })],
  ])('[REG-8] %s: the start fails with a reason, no secret is logged, and AWS is not called for a while', async (_title, why, breakIt) => {
    const account = await createAccount()
    await delegate(account)
    const aws = FakeAws.start()
    breakIt(aws)
    const log = vi.spyOn(console, 'warn')
    expect(await pull(account)).toEqual(refused(why))
    const calls = aws.calls.length
    expect(await pull(account)).toEqual(refused(why))
    expect(aws.calls).toHaveLength(calls)
    expect(JSON.stringify(log.mock.calls)).not.toContain('canary')
  })

  it.each<[object, string]>([
    [{ ECR_ROLE_ARN: undefined }, 'its operator has not set ECR_ROLE_ARN'],
    [{ AWS_SECRET_ACCESS_KEY: '' }, 'its operator has not set AWS_SECRET_ACCESS_KEY'],
    [{ ECR_ROLE_ARN: 'podplane-pulls' }, 'ECR_ROLE_ARN is not the ARN of a role'],
  ])('[REG-6] with %j AWS is not called', async (vars, why) => {
    const account = await createAccount()
    await delegate(account)
    const aws = FakeAws.start()
    plane = { ...plane, ...vars }
    expect(await pull(account)).toEqual(refused(why))
    expect(aws.calls).toEqual([])
  })

  it('[REG-6] a pod of a plane without a role states why it cannot start', async () => {
    const scene = await podScene(gpus(1))
    await delegate(scene.account)
    const { id } = await scene.create({ image: IMAGE })
    await expect.poll(async () => (await scene.get(id)).status, SOON).toBe('ERROR')
    expect((await scene.get(id)).statusReason).toContain('its operator has not set AWS_ACCESS_KEY_ID')
  })
})

describe('a delegation in an organization', () => {
  let owner: Account
  let member: Account
  let team: string
  beforeEach(async () => {
    owner = await createAccount()
    member = await createAccount()
    team = await createOrganization(owner.key)
    await joinTeam(team, member, 'DEV')
    const { key } = await createKeyIn(team, member)
    expect((await api(key).post(PATH, { resource: ARN })).status).toBe(201)
  })

  const start = (teamId: string) => pullWith(plane, teamId, { image: IMAGE, registry: null })
  const listed = async () => {
    const { key } = await createKeyIn(team, owner)
    return (await api(key).get(PATH)).body.delegations.map(({ endedBecause }: { endedBecause: string | null }) => endedBecause)
  }
  const ended = (why: string) => ({
    ok: false,
    reason: `the image is pulled by delegation, but the delegation of ${ARN} is not valid: ${why}; delegate the repository again`,
  })
  const GONE = 'the user who delegated is no longer a member of the account'

  it('[S8] [DER-24] [DER-26] ends with the membership: AWS is not called in that name again, the start and the list state why, and other delegations continue', async () => {
    const neighbour = await createAccount()
    await delegate(neighbour)
    const aws = FakeAws.start()
    expect([(await start(team)).ok, (await pull(neighbour)).ok, await listed()]).toEqual([true, true, [null]])
    const asked = aws.calls.length
    expect((await api(owner.key).delete(`/v2/organizations/${team}/members/${member.userId}`)).status).toBe(204)
    dropDelegatedTokens()
    expect([await start(team), aws.calls.length, await listed()]).toEqual([ended(GONE), asked, [GONE]])
    expect((await pull(neighbour)).ok).toBe(true)
    // A member who has rejoined has not delegated anything yet.
    await joinTeam(team, member, 'DEV')
    await env.DB.prepare('UPDATE memberships SET created_at = ? WHERE user_id = ? AND team_id = ?')
      .bind(Date.now() + 1, member.userId, team)
      .run()
    expect(await start(team)).toEqual(ended('the user who delegated has left and rejoined the account'))
  })

  it('[S8] [DER-24] ends while its maker is suspended or has a lower role, and another one for the repository takes its place', async () => {
    const aws = FakeAws.start()
    const suspend = (word: string) => admin().post(`/admin/v1/users/${member.userId}/${word}`)
    await suspend('suspend')
    expect(await start(team)).toEqual(ended('the user who delegated, or the account, is suspended by the operator'))
    await suspend('resume')
    const role = (to: string) => api(owner.key).patch(`/v2/organizations/${team}/members/${member.userId}`, { role: to })
    await role('BASIC')
    expect(await start(team)).toEqual(ended('the user who delegated has the role BASIC, which may not delegate'))
    expect(aws.calls).toEqual([])
    const { key } = await createKeyIn(team, owner)
    await env.DB.prepare('UPDATE delegations SET created_at = created_at + 1000 WHERE team_id = ?').bind(team).run()
    await api(key).post(PATH, { resource: ARN })
    expect((await start(team)).ok).toBe(true)
    expect(aws.calls[0]?.body).toMatchObject({ RoleSessionName: `${team}-${owner.userId}` })
  })

  it('[S8] [DER-25] names the account to AWS, so that trust given to one account serves no other with a key of the same user', async () => {
    await delegate(member)
    const aws = FakeAws.start()
    await start(team)
    await pull(member)
    const names = aws.calls.flatMap(({ body }) => body.RoleSessionName ?? [])
    expect(names).toEqual([`${team}-${member.userId}`, `${await teamOf(member)}-${member.userId}`])
    for (const name of names) expect(name).toMatch(/^[\w+=,.@-]{2,64}$/)
    const odd = await Promise.all(['a-b', 'x'.repeat(40), 'ä'].map((teamId) => sessionName({ teamId, userId: 'u' })))
    for (const name of odd) expect(name).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(odd).size).toBe(3)
  })

  it("[S8] [DER-24] a pod of it does not start, with the platform's own error text", async () => {
    const scene = await podScene(gpus(1))
    const { key } = await createKeyIn(team, owner)
    await api(owner.key).delete(`/v2/organizations/${team}/members/${member.userId}`)
    const { id } = (await api(key).post('/v2/pods', { name: 'p', image: IMAGE, gpu: { id: 'NVIDIA L4' } })).body
    const row = () => api(key).get(`/v2/pods/${id}`)
    await expect.poll(async () => (await row()).body.status, SOON).toBe('ERROR')
    expect((await row()).body.statusReason).toContain(`is not valid: ${GONE}`)
    scene.leave()
  })
})
