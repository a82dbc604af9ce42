/** A repository of Amazon's Elastic Container Registry (ECR), as identified by its ARN and by image names. */
export interface EcrRepository {
  /** AWS account number, twelve digits. */
  account: string
  region: string
  repository: string
}

const ACCOUNT = '[0-9]{12}'
const REGION = '[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}'
const PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*'
const REPOSITORY = `${PART}(?:/${PART})*`
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'

// The partition `aws-cn` is excluded: it has other hosts and accounts, and credentials of this partition are not valid there.
const ARN = new RegExp(`^arn:aws(?:-us-gov)?:ecr:(${REGION}):(${ACCOUNT}):repository/(${REPOSITORY})(?::(${TAG}))?$`)
const ECR_HOST = new RegExp(`^(${ACCOUNT})\\.dkr\\.ecr\\.(${REGION})\\.amazonaws\\.com$`)
const MIN_REPOSITORY_LENGTH = 2
const MAX_REPOSITORY_LENGTH = 256
const DEFAULT_TAG = 'latest'

/** Parses the ARN of a repository with its tag (`latest` by default); null for any other text (REG-3, REG-4). */
export function parseEcrArn(arn: string): (EcrRepository & { tag: string }) | null {
  const [, region, account, repository, tag = DEFAULT_TAG] = ARN.exec(arn) ?? []
  if (region === undefined || account === undefined || repository === undefined) return null
  if (repository.length < MIN_REPOSITORY_LENGTH || repository.length > MAX_REPOSITORY_LENGTH) return null
  return { account, region, repository, tag }
}

/** ECR repository of an image, without tag and digest; null for an image of another registry. */
export function ecrRepositoryOf(image: string): EcrRepository | null {
  const slash = image.indexOf('/')
  const [, account, region] = ECR_HOST.exec(image.slice(0, Math.max(slash, 0))) ?? []
  if (account === undefined || region === undefined) return null
  const repository = image
    .slice(slash + 1)
    .replace(/@.*$/, '')
    .replace(/:[^/]*$/, '')
  return repository === '' ? null : { account, region, repository }
}

/** Registry host of a repository, as image names contain it. */
export function ecrHost({ account, region }: Pick<EcrRepository, 'account' | 'region'>): string {
  return `${account}.dkr.ecr.${region}.amazonaws.com`
}

/** ARN of a repository, for policies. */
export function ecrArn({ account, region, repository }: EcrRepository): string {
  return `arn:${region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'}:ecr:${region}:${account}:repository/${repository}`
}

/** Session policy that allows pulling from one repository only (REG-7). */
export function pullPolicy(repository: EcrRepository): string {
  const pull = ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer']
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: 'ecr:GetAuthorizationToken', Resource: '*' },
      { Effect: 'Allow', Action: pull, Resource: ecrArn(repository) },
    ],
  })
}
