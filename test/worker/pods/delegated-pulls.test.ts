import { forgetDelegatedTokens } from '../../../src/effects/ecr/delegated-token.ts'
import { pullWith } from '../../../src/effects/registry-login.ts'
import type { Env } from '../../../src/env.ts'
import { AWS_VARS, FakeAws } from '../../support/fake-aws.ts'
import { gpus } from '../../support/gpus.ts'
import { type Account, afterEach, api, beforeEach, createAccount, describe, env, expect, it, teamOf, vi } from '../../support/harness.ts'
import { podScene } from '../../support/pod-scene.ts'
import { SOON } from '../../support/time.ts'

const PATH = '/v2/registries/delegations'
const HOST = '123456789012.dkr.ecr.us-east-1.amazonaws.com'
const ARN = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
const IMAGE = `${HOST}/team/models:v1`
const WITHOUT = { ok: true, login: null }

let plane: Env
beforeEach(() => {
  forgetDelegatedTokens()
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
  reason: `the image is pulled by delegation, and this plane got no token for ${ARN}: ${why}`,
})

describe('pulls by delegation', () => {
  it('[REG-5][REG-7] get a token of a role session that carries who delegated and may pull that repository alone', async () => {
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

  it('[REG-5] other images, other accounts and containers with a credential of their own ask AWS nothing', async () => {
    const [account, stranger] = [await createAccount(), await createAccount()]
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
    expect(await pull(stranger)).toEqual(WITHOUT)
    expect(await pull(account, IMAGE, 'nosuchcredential')).toEqual(WITHOUT)
    expect(aws.calls).toEqual([])
  })

  it('[REG-5] a revoked delegation counts no more, whatever is remembered', async () => {
    const account = await createAccount()
    const id = await delegate(account)
    FakeAws.start()
    expect(await pull(account)).toMatchObject({ ok: true, login: { username: 'AWS' } })
    await api(account.key).delete(`${PATH}/${id}`)
    expect(await pull(account)).toEqual(WITHOUT)
  })

  it('[REG-8] a token is asked for once a delegator, until it is near its end', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    for (const one of [account, other]) await delegate(one)
    const aws = FakeAws.start()
    const first = await pull(account)
    expect(await pull(account, `${HOST}/team/models:v2`)).toEqual(first)
    expect(aws.calls).toHaveLength(2)
    expect(await pull(other)).not.toEqual(first)
    expect(aws.calls).toHaveLength(4)
    forgetDelegatedTokens()
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
      'an answer is no token',
      'AWS answers GetAuthorizationToken without a token',
      (aws) => {
        aws.refusal = { host: /^api\.ecr/, status: 200, body: '{"authorizationData":[{"authorizationToken":"????","expiresAt":1}]}' }
      },
    ],
    [
      'an answer has no end',
      'AWS cannot be reached',
      (aws) => {
        aws.refusal = { host: /^sts/, status: 200, body: 'x'.repeat(70_000) }
      },
    ],
    ['AWS is away', 'AWS cannot be reached', (aws) => Object.assign(aws, { isDown: true })],
  ])('[REG-8] %s: the start fails with a reason, no secret is logged, and AWS is left alone for a while', async (_title, why, breakIt) => {
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
  ])('[REG-6] with %j nothing is asked', async (vars, why) => {
    const account = await createAccount()
    await delegate(account)
    const aws = FakeAws.start()
    plane = { ...plane, ...vars }
    expect(await pull(account)).toEqual(refused(why))
    expect(aws.calls).toEqual([])
  })

  it('[REG-6] a pod of a plane without a role says why it cannot start', async () => {
    const scene = await podScene(gpus(1))
    await delegate(scene.account)
    const { id } = await scene.create({ image: IMAGE })
    await expect.poll(async () => (await scene.get(id)).status, SOON).toBe('ERROR')
    expect((await scene.get(id)).statusReason).toContain('its operator has not set AWS_ACCESS_KEY_ID')
  })
})
