import { AwsClient } from 'aws4fetch'
import { z } from 'zod'
import type { AwsIdentity } from '../../domain/resources/aws-settings.ts'
import { type EcrRepository, pullPolicy } from '../../domain/resources/ecr.ts'
import { FETCH_TIMEOUT_MS, readText } from '../../platform/fetch-json.ts'
import { type Delegator, sessionName } from './session-name.ts'

/** A login for one registry that is valid for some hours. */
export interface RegistryToken {
  username: string
  password: string
  expiresAtMs: number
}

/** The reason why AWS gave no token, in words for the account; of AWS's reply it contains only the name of the error. */
export class ExchangeError extends Error {}

interface AwsKeys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

interface Call {
  service: 'sts' | 'ecr'
  action: string
  region: string
  headers: Record<string, string>
  body: string
}

const MAX_ANSWER_BYTES = 64 * 1024
/** The shortest session that every role allows by default; it outlasts any cached token. */
const SESSION_SECONDS = 3600
const ERROR_NAME = /^[A-Za-z0-9.]{1,64}$/

const TokenAnswer = z.object({ authorizationData: z.array(z.object({ authorizationToken: z.string(), expiresAt: z.number() })) })

/**
 * Gets a token for a repository in the name of its delegator (REG-7): assumes the operator's role in a session named after the delegator,
 * restricted to pulls from this repository, and requests the registry's token with it. `nowMs` decides when the session ends. Throws
 * `ExchangeError`.
 */
export async function exchangeToken(
  { accessKeyId, secretAccessKey, roleArn }: AwsIdentity,
  delegator: Delegator,
  repository: EcrRepository,
  nowMs: number,
): Promise<RegistryToken> {
  const session = await assumeRole({ accessKeyId, secretAccessKey }, roleArn, await sessionName(delegator), repository)
  const token = await authorizationToken(session, repository.region)
  return { ...token, expiresAtMs: Math.min(token.expiresAtMs, nowMs + SESSION_SECONDS * 1000) }
}

async function assumeRole(keys: AwsKeys, roleArn: string, name: string, repository: EcrRepository): Promise<AwsKeys> {
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: name,
    DurationSeconds: String(SESSION_SECONDS),
    Policy: pullPolicy(repository),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  const xml = await call(keys, { service: 'sts', action: 'AssumeRole', region: repository.region, headers, body: form.toString() })
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) =>
    elementOf(xml, name),
  )
  if (!accessKeyId || !secretAccessKey || !sessionToken) throw new ExchangeError('the response of AWS to AssumeRole has no credentials')
  return { accessKeyId, secretAccessKey, sessionToken }
}

async function authorizationToken(keys: AwsKeys, region: string): Promise<RegistryToken> {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
  }
  const text = await call(keys, { service: 'ecr', action: 'GetAuthorizationToken', region, headers, body: '{}' })
  const data = TokenAnswer.safeParse(jsonOf(text)).data?.authorizationData[0]
  const [username = '', password = ''] = data ? splitLogin(data.authorizationToken) : []
  if (!data || username === '' || password === '') throw new ExchangeError('the response of AWS to GetAuthorizationToken has no token')
  return { username, password, expiresAtMs: data.expiresAt * 1000 }
}

/** Splits the base64 text of `<user>:<password>`. */
function splitLogin(token: string): string[] {
  const [, username = '', password = ''] = /^([^:]+):(.+)$/s.exec(fromBase64(token)) ?? []
  return [username, password]
}

function fromBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}

async function call(keys: AwsKeys, { service, action, region, headers, body }: Call): Promise<string> {
  const url = `https://${service === 'sts' ? 'sts' : 'api.ecr'}.${region}.amazonaws.com/`
  const signed = await new AwsClient({ ...keys, service, region }).sign(url, { method: 'POST', headers, body })
  const response = await fetch(signed, { redirect: 'manual', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
  const text = response.body === null ? '' : await readText(response.body, MAX_ANSWER_BYTES, url)
  if (response.ok) return text
  throw new ExchangeError(`AWS answers ${action} with ${response.status} ${errorName(text)}`.trim())
}

/** Returns the name of an STS or ECR error if it is a plain name, else an empty text. */
function errorName(text: string): string {
  const error = jsonOf(text)
  const type = typeof error === 'object' && error !== null && '__type' in error ? String(error.__type) : (elementOf(text, 'Code') ?? '')
  const name = type.replace(/^.*#/, '')
  return ERROR_NAME.test(name) ? name : ''
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns the text of an element of STS's flat XML; the values read here contain no escapes. */
function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1]
}
