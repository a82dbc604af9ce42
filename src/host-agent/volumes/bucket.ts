import { OperatorError } from '../../node/fail.ts'
import { readBucketLogin } from './bucket-login.ts'

/** A bucket of an S3-compatible object store, and the prefix for global volumes in it. */
export interface Bucket {
  bucket: string
  /** Without slashes at its ends; empty: the whole bucket. */
  prefix: string
  /** Undefined: Amazon S3. */
  endpoint: string | undefined
  region: string | undefined
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,62}$/
const PREFIX = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/
const REGION = /^[a-z0-9-]{1,64}$/

/** Parses `s3://<bucket>[/<prefix>][?endpoint=<url>&region=<name>]`. Throws an `OperatorError`. */
export function parseBucket(text: string): Bucket {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const [bucket, prefix] = [url?.hostname ?? '', (url?.pathname ?? '').replace(/^\/+|\/+$/g, '')]
  const [endpoint, region] = [url?.searchParams.get('endpoint') ?? undefined, url?.searchParams.get('region') ?? undefined]
  const isKnown = [...(url?.searchParams.keys() ?? [])].every((name) => name === 'endpoint' || name === 'region')
  const isPlain = url !== undefined && url.username === '' && url.password === '' && url.port === '' && url.hash === ''
  const isEndpoint = endpoint === undefined || (URL.canParse(endpoint) && /^https?:\/\/[^/]+\/?$/.test(endpoint))
  const isPrefix = prefix === '' || (PREFIX.test(prefix) && !prefix.split('/').some((part) => /^\.+$/.test(part)))
  if (isPlain && isKnown && BUCKET.test(bucket) && isPrefix && isEndpoint && (region === undefined || REGION.test(region))) {
    return { bucket, prefix, endpoint, region }
  }
  throw new OperatorError(
    `--global-volumes '${withoutLogin(text)}' is not a bucket; write s3://<bucket>/<prefix>?endpoint=<https://…>&region=<name>, and give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as a credential of systemd or in the agent's environment`,
  )
}

/** Returns rclone's path of the prefix, or of a directory in it. */
export function remoteOf({ bucket, prefix }: Bucket, name = ''): string {
  return `store:${[bucket, prefix, name].filter((part) => part !== '').join('/')}`
}

/**
 * Returns the environment for rclone, which reads no configuration file: credentials come from systemd or the agent's environment, and
 * never appear in arguments.
 */
export function rcloneEnv({ endpoint, region }: Bucket): Record<string, string> {
  const certificates = process.env.AWS_CA_BUNDLE ?? ''
  return {
    // Some versions of rclone fail with AWS_CA_BUNDLE set; all support RCLONE_CA_CERT.
    ...(certificates !== '' && { AWS_CA_BUNDLE: '', RCLONE_CA_CERT: certificates }),
    ...readBucketLogin(),
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_STORE_TYPE: 's3',
    RCLONE_CONFIG_STORE_PROVIDER: endpoint === undefined ? 'AWS' : 'Other',
    RCLONE_CONFIG_STORE_ENV_AUTH: 'true',
    RCLONE_CONFIG_STORE_NO_CHECK_BUCKET: 'true',
    ...(endpoint !== undefined && { RCLONE_CONFIG_STORE_ENDPOINT: endpoint }),
    ...(region !== undefined && { RCLONE_CONFIG_STORE_REGION: region }),
  }
}

function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@')
}
