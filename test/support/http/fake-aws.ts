import { createHash, createHmac } from 'node:crypto'
import { vi } from '../harness.ts'

const OPERATOR = { id: 'AKIDEXAMPLE', secret: 'operator-secret-canary-5b1c' }
const SESSION = { id: 'ASIASESSION', secret: 'session-secret-canary-8d2e', token: 'session-token-canary-4f7a' }

/** Variables of a plane whose operator has configured the exchange. */
export const AWS_VARS = {
  AWS_ACCESS_KEY_ID: OPERATOR.id,
  AWS_SECRET_ACCESS_KEY: OPERATOR.secret,
  ECR_ROLE_ARN: 'arn:aws:iam::999999999999:role/podplane-pulls',
}

/** One call as AWS parsed it. */
interface AwsCall {
  host: string
  signedBy: string
  body: Record<string, string>
}

/** Security Token Service and ECR, which accept only correctly signed requests. */
export class FakeAws {
  readonly calls: AwsCall[] = []
  /** An answer that replaces the regular one. */
  refusal: { host: RegExp; status: number; body: string } | null = null
  isDown = false
  expiresAtMs = Date.now() + 12 * 3_600_000

  /** The plane's `fetch` is redirected here until the mocks of the test are restored. */
  static start(): FakeAws {
    const aws = new FakeAws()
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => aws.answer(new Request(input, init)))
    return aws
  }

  private async answer(request: Request): Promise<Response> {
    if (this.isDown) throw new TypeError('AWS cannot be reached')
    const { host } = new URL(request.url)
    const body = new TextDecoder().decode(await request.arrayBuffer())
    const fault = signatureFault(request, body)
    if (fault !== null) return new Response(`<Error><Code>SignatureDoesNotMatch</Code><Message>${fault}</Message></Error>`, { status: 403 })
    const signedBy = /Credential=([^/]+)/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    this.calls.push({ host, signedBy, body: host.startsWith('sts.') ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body) })
    if (this.refusal?.host.test(host)) return new Response(this.refusal.body, { status: this.refusal.status })
    return host.startsWith('sts.') ? session() : this.token(request)
  }

  private token(request: Request): Response {
    const target = request.headers.get('x-amz-target')
    if (target !== 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken') return new Response(null, { status: 400 })
    const authorizationToken = btoa(`AWS:token-canary-${this.calls.length}`)
    return Response.json({ authorizationData: [{ authorizationToken, expiresAt: this.expiresAtMs / 1000, proxyEndpoint: 'https://x' }] })
  }
}

function session(): Response {
  return new Response(
    `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
      <AccessKeyId>${SESSION.id}</AccessKeyId><SecretAccessKey>${SESSION.secret}</SecretAccessKey>
      <SessionToken>${SESSION.token}</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration>
    </Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  )
}

/** The fault of a request by AWS Signature Version 4, computed here step by step; null when its signature is right. */
function signatureFault(request: Request, body: string): string | null {
  const url = new URL(request.url)
  const authorization = request.headers.get('authorization') ?? ''
  const [, id, scope, signed, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(authorization) ?? []
  if (id === undefined || scope === undefined || signed === undefined) return 'no signature'
  const key = [OPERATOR, SESSION].find((one) => one.id === id)
  if (!key) return 'unknown key'
  if (key === SESSION && request.headers.get('x-amz-security-token') !== SESSION.token) return 'no session token'
  const [service, region] = url.host.startsWith('sts.') ? ['sts', url.host.split('.')[1]] : ['ecr', url.host.split('.')[2]]
  const at = request.headers.get('x-amz-date') ?? ''
  const day = at.slice(0, 8)
  if (scope !== `${day}/${region}/${service}/aws4_request`) return `scope ${scope}`
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text).digest()
  const names = signed.split(';')
  if (!names.includes('host') || !names.includes('x-amz-date')) return 'host and date have to be signed'
  const headers = names.map((name) => `${name}:${name === 'host' ? url.host : (request.headers.get(name) ?? '').trim()}\n`).join('')
  const canonical = [request.method, url.pathname, url.searchParams.toString(), headers, signed, sha256(body)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')
  const ofRegion = hmac(hmac(`AWS4${key.secret}`, day), region ?? '')
  const signing = hmac(hmac(ofRegion, service ?? ''), 'aws4_request')
  return Buffer.from(hmac(signing, toSign)).toString('hex') === signature ? null : 'another signature'
}
