import { z } from 'zod'
import { Name, PLAIN_TEXT, Timestamp } from '../fields.ts'

/** Longest ARN, characters: room for region, account, 256 characters of repository and 128 of tag. */
const MAX_RESOURCE_LENGTH = 512
const ARN_FORM = '`arn:aws:ecr:<region>:<account>:repository/<name>`, with `:<tag>` behind it if it is not `latest`'

const EXAMPLE = {
  id: '7c2q9m4x1h8k5v',
  name: 'models',
  delegatorUserId: '3f8k2m9q7x1h4v',
  awsUser: '123456789012',
  repository: 'team/models',
  tag: 'latest',
  awsRegion: 'us-east-1',
  dockerRegistryUri: '123456789012.dkr.ecr.us-east-1.amazonaws.com',
  awsSessionName: '5c8r2n6t1v9k3d-3f8k2m9q7x1h4v',
  createdAt: '2026-11-15T12:00:00Z',
  endedBecause: null,
}

export const EcrDelegation = z
  .object({
    id: z.string(),
    name: Name.nullable(),
    delegatorUserId: z
      .string()
      .meta({ description: 'The user who recorded it. The delegation counts as long as this user is a member who may write registries.' }),
    awsUser: z.string().meta({ description: 'The AWS account that the repository belongs to.' }),
    repository: z.string(),
    tag: z.string().meta({ description: 'The tag of the request. Every tag of the repository can be pulled.' }),
    awsRegion: z.string(),
    dockerRegistryUri: z.string().meta({ description: 'The registry that images of the repository are on.' }),
    awsSessionName: z.string().meta({
      description: 'The name of the role session that the policy of the repository has to allow: `<account>-<delegatorUserId>`.',
    }),
    createdAt: Timestamp,
    endedBecause: z
      .string()
      .nullable()
      .meta({ description: 'Why the delegation is not valid: the state of the user who recorded it. Null: it is valid.' }),
  })
  .meta({
    id: 'EcrDelegation',
    description: 'An ECR repository from which images are pulled without a stored credential.',
    example: EXAMPLE,
  })
export type EcrDelegation = z.infer<typeof EcrDelegation>

export const CreateDelegationRequest = z
  .strictObject({
    resource: z
      .string()
      .max(MAX_RESOURCE_LENGTH)
      .regex(PLAIN_TEXT)
      .meta({ description: `The repository: ${ARN_FORM}.`, example: 'arn:aws:ecr:us-east-1:123456789012:repository/team/models' }),
    name: Name.nullable().optional(),
  })
  .meta({
    id: 'CreateDelegationRequest',
    example: { resource: 'arn:aws:ecr:us-east-1:123456789012:repository/team/models', name: 'models' },
  })
export type CreateDelegationRequest = z.infer<typeof CreateDelegationRequest>

/** One page without a cursor: the number of delegations is bounded (PAG-5). */
export const ListDelegationsResponse = z
  .object({ delegations: z.array(EcrDelegation) })
  .meta({ id: 'ListDelegationsResponse', example: { delegations: [EXAMPLE] } })

export const RESOURCE_REFUSAL = `$.resource: want the ARN of an ECR repository, ${ARN_FORM.replaceAll('`', '')}`
