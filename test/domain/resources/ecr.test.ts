import { ecrArn, ecrHost, ecrRepositoryOf, parseEcrArn } from '../../../src/domain/resources/ecr.ts'
import { describe, expect, it } from '../../support/unit.ts'

const HOST = '123456789012.dkr.ecr.us-east-1.amazonaws.com'
const ARN = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
const MODELS = { account: '123456789012', region: 'us-east-1', repository: 'team/models' }

describe('names of ECR', () => {
  it.each([
    [ARN, { ...MODELS, tag: 'latest' }],
    [`${ARN}:v1.2`, { ...MODELS, tag: 'v1.2' }],
    [
      'arn:aws:ecr:ap-southeast-2:000000000001:repository/a1',
      { account: '000000000001', region: 'ap-southeast-2', repository: 'a1', tag: 'latest' },
    ],
    [
      'arn:aws-us-gov:ecr:us-gov-west-1:123456789012:repository/a--b__c.d/e',
      { account: '123456789012', region: 'us-gov-west-1', repository: 'a--b__c.d/e', tag: 'latest' },
    ],
  ])('[REG-3] %s', (arn, named) => {
    expect(parseEcrArn(arn)).toEqual(named)
    expect(ecrArn(parseEcrArn(arn) ?? MODELS)).toBe(arn.replace(':v1.2', ''))
  })

  it.each([
    '',
    'models',
    HOST,
    'arn:aws:ecr:us-east-1:123456789012:repository/',
    'arn:aws:ecr:us-east-1:12345678901:repository/a1',
    'arn:aws:ecr:us-east-1:123456789012:repository/Team',
    'arn:aws:ecr:us-east-1:123456789012:repository/a',
    `arn:aws:ecr:us-east-1:123456789012:repository/${'a'.repeat(257)}`,
    'arn:aws:ecr:us-east-1:123456789012:repository/a1:',
    `${ARN}:a b`,
    `${ARN}\n`,
    'arn:aws:ecr:us-east-1:123456789012:repository/a/../b',
    'arn:aws:ecr:evil.example/:123456789012:repository/a1',
    'arn:aws:s3:us-east-1:123456789012:repository/a1',
    'arn:aws-cn:ecr:cn-north-1:123456789012:repository/a1',
    'arn:aws:ecr:*:123456789012:repository/*',
  ])('[REG-4] %j is no repository', (arn) => expect(parseEcrArn(arn)).toBeNull())

  it.each([`${HOST}/team/models`, `${HOST}/team/models:v2`, `${HOST}/team/models@sha256:00`, `${HOST}/team/models:v2@sha256:00`])(
    '[REG-5] %s is an image of that repository',
    (image) => expect(ecrRepositoryOf(image)).toEqual(MODELS),
  )

  it.each([
    'team/models',
    'ghcr.io/team/models',
    HOST,
    `${HOST}.evil.example/team/models`,
    `evil-${HOST}/team/models`,
    `${HOST}:5000/team/models`,
    `${HOST}:443/team/models`,
    `evil.example/${HOST}/team/models`,
    'public.ecr.aws/team/models',
  ])('[REG-5] %s is on another registry', (image) => expect(ecrRepositoryOf(image)).toBeNull())

  it('[REG-3] the registry of a repository', () => expect(ecrHost(MODELS)).toBe(HOST))
})
