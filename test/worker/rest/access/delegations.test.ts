import { api, createAccount, describe, expect, it, teamOf } from '../../../support/harness.ts'
import { multiply } from '../../../support/pods/resources.ts'

const PATH = '/v2/registries/delegations'
const ARN = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
const WANT =
  '$.resource: want the ARN of an ECR repository, arn:aws:ecr:<region>:<account>:repository/<name>, with :<tag> behind it if it is not latest'

describe('delegations of ECR repositories', () => {
  it('[REG-3][PAG-5] are recorded, listed newest first, and revoked', async () => {
    const account = await createAccount()
    const { key, userId } = account
    const first = await api(key).post(PATH, { resource: `${ARN}:v1`, name: 'models' })
    const delegation = {
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      name: 'models',
      delegatorUserId: userId,
      awsUser: '123456789012',
      repository: 'team/models',
      tag: 'v1',
      awsRegion: 'us-east-1',
      dockerRegistryUri: '123456789012.dkr.ecr.us-east-1.amazonaws.com',
      awsSessionName: `${await teamOf(account)}-${userId}`,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      endedBecause: null,
    }
    expect([first.status, first.body]).toEqual([201, delegation])
    const second = await api(key).post(PATH, { resource: ARN, name: null })
    expect(second.body).toEqual({ ...delegation, name: null, tag: 'latest' })
    const listed = (await api(key).get(PATH)).body.delegations
    expect(listed).toHaveLength(2)
    expect(listed).toEqual(expect.arrayContaining([first.body, second.body]))
    expect(await api(key).delete(`${PATH}/${first.body.id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(PATH)).body).toEqual({ delegations: [second.body] })
    expect((await api(key).delete(`${PATH}/${first.body.id}`)).status).toBe(404)
  })

  it('[REG-3] take precedence over credentials with their id: no credential is requested', async () => {
    const { key } = await createAccount()
    expect((await api(key).get(PATH)).body).toEqual({ delegations: [] })
    const reply = await api(key).put(PATH, {})
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST'])
  })

  it('[REG-4] an invalid ARN of a repository is 400 with the form, and nothing is stored', async () => {
    const { key } = await createAccount()
    for (const resource of ['models', 'arn:aws:s3:::bucket', `${ARN}:`, '']) {
      expect(await api(key).post(PATH, { resource }), resource).toMatchObject({ status: 400, body: { detail: WANT, code: 'RULE' } })
    }
    expect((await api(key).get(PATH)).body).toEqual({ delegations: [] })
  })

  it.each<[string, object, string]>([
    ['no resource', { resource: undefined }, "$: missing property 'resource'"],
    ['an unknown member', { tag: 'x' }, "$: additional properties 'tag' not allowed"],
    ['an empty name', { name: '' }, '$.name: minLength: got 0, want 1'],
    ['a resource of 513 characters', { resource: 'x'.repeat(513) }, '$.resource: maxLength: got 513, want 512'],
  ])('[REG-3] %s is 422', async (_title, changes, error) => {
    const { key } = await createAccount()
    expect(await api(key).post(PATH, { resource: ARN, ...changes })).toMatchObject({ status: 422, body: { errors: [error] } })
  })

  it('[RES-1] an account has at most 1000', async () => {
    const account = await createAccount()
    await api(account.key).post(PATH, { resource: ARN })
    const columns = 'delegator_user_id, aws_user, aws_region, repository, tag, created_at'
    await multiply('delegations', columns, account, 999)
    expect(await api(account.key).post(PATH, { resource: ARN })).toMatchObject({
      status: 400,
      body: { detail: 'an account has at most 1000 registry delegations; delete one first' },
    })
  })
})
