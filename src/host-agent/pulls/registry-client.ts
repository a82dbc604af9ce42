import { z } from 'zod'
import type { Workload } from '../../host-protocol/messages.ts'
import { parseJson } from '../../node/json-file.ts'
import { type Challenge, isItsTokenService, parseChallenge } from './challenge.ts'
import type { Answer, Call, Egress } from './egress.ts'
import { ACCEPTED_TYPES, digestOf, type ManifestDocument, readManifest } from './manifest.ts'
import { PullError } from './pull-error.ts'
import type { PullPace } from './pull-pace.ts'
import type { Reference } from './reference.ts'

const MANIFEST_MAX_BYTES = 4 * 2 ** 20
const TOKEN_MAX_BYTES = 64 * 2 ** 10

// Exactly these names: a service that returns a token under another name is no token service.
const TokenAnswer = z
  .object({ token: z.string().min(1).optional(), access_token: z.string().min(1).optional() })
  .transform(({ token, access_token }) => token ?? access_token)

export interface RegistryClientDeps {
  egress: Egress
  reference: Reference
  /** A login and the host of the registry that it belongs to. */
  login: Workload['registryAuth']
  /** Measures the speed of the registry. */
  pace: PullPace
  signal: AbortSignal
}

/** Requests one repository of one registry, with the login of one workload or none. Every error is a `PullError` or an abort. */
export class RegistryClient {
  readonly pace: PullPace
  private readonly deps: RegistryClientDeps
  private readonly origin: URL
  private authorization: string | undefined

  constructor(deps: RegistryClientDeps) {
    const { reference, login } = deps
    // The plane has checked this too, but a party that impersonates the plane may not have (HOST-94).
    if (login !== undefined && login.host !== reference.host) {
      throw new PullError('foreignLogin', `a credential of ${login.host ?? 'no registry'} for an image on ${reference.host}`)
    }
    this.deps = deps
    this.pace = deps.pace
    this.origin = new URL(deps.egress.originOf(reference.host))
  }

  /** Returns a manifest by tag or digest, with its digest. Throws a `PullError`. */
  async manifest(wanted: string, platform: string): Promise<{ document: ManifestDocument; digest: string }> {
    const { headers, body } = await this.ask(`manifests/${wanted}`, { headers: { accept: ACCEPTED_TYPES }, follow: true })
    const bytes = await readBytes(body, MANIFEST_MAX_BYTES, this.pace)
    const digest = digestOf(bytes)
    if (wanted.includes(':') && wanted !== digest) throw new PullError('unusable', `a manifest of another digest than ${wanted}`)
    return { document: readManifest(bytes, (headers['content-type'] ?? '').split(';')[0] ?? '', platform), digest }
  }

  /** Throws a `PullError` when the repository does not have a blob. A redirect counts as having it. */
  async requireBlob(digest: string): Promise<void> {
    const { body } = await this.ask(`blobs/${digest}`, { method: 'HEAD' })
    body.resume()
  }

  /** Returns the bytes of a blob from `offset` on. Throws a `PullError`. */
  async blob(digest: string, offset: number): Promise<Answer['body']> {
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {}
    const { status, body } = await this.ask(`blobs/${digest}`, { headers: range, follow: true })
    if (offset === 0 || status === 206) return body
    body.destroy()
    throw new PullError('unreachable', `${this.origin.host} cannot go on in the middle of a blob`)
  }

  // The speed is measured here too: a registry that does not answer delays a start as much as one that sends no data.
  private ask(path: string, call: Omit<Call, 'signal' | 'registry'>): Promise<Answer> {
    return this.pace.during(() => this.answerTo(path, call))
  }

  private async answerTo(path: string, call: Omit<Call, 'signal' | 'registry'>): Promise<Answer> {
    const url = new URL(`/v2/${this.deps.reference.repository}/${path}`, this.origin)
    const first = await this.send(url, call)
    // Also for later requests: a token may expire during the download of a large image.
    if (first.status !== 401) return this.accept(first)
    const challenge = parseChallenge(first.headers['www-authenticate'])
    first.body.destroy()
    this.authorization = challenge && (await this.authorize(challenge))
    if (this.authorization === undefined) throw this.refusal(401)
    return this.accept(await this.send(url, call))
  }

  private send(url: URL, call: Omit<Call, 'signal' | 'registry'>): Promise<Answer> {
    const authorization: Record<string, string> = this.authorization === undefined ? {} : { authorization: this.authorization }
    const { egress, reference, signal } = this.deps
    return egress.call(url, { ...call, registry: reference.host, signal, headers: { ...call.headers, ...authorization } })
  }

  private accept(answer: Answer): Answer {
    if (answer.status === 200 || answer.status === 206 || (answer.status >= 300 && answer.status < 400)) return answer
    answer.body.destroy()
    throw this.refusal(answer.status)
  }

  private refusal(status: number): PullError {
    const detail = `${this.origin.host} answers ${status} for ${this.deps.reference.text}`
    if (status === 401 || status === 403) return new PullError(this.deps.login === undefined ? 'notFound' : 'refused', detail)
    return new PullError(status === 404 ? 'notFound' : 'unreachable', detail)
  }

  private async authorize(challenge: Challenge): Promise<string | undefined> {
    const basic = this.basic()
    if (challenge.scheme === 'basic') return basic
    const url = URL.parse(challenge.realm)
    if (url === null) throw new PullError('unreachable', `${this.origin.host} names a token service that is no address`)
    const { egress, reference, signal } = this.deps
    if (basic !== undefined && !isItsTokenService(this.origin, url, egress.isAllowed(url.host))) {
      const detail = `${this.origin.host} wants the login sent to ${url.host}, which is not known for its token service`
      throw new PullError('notAllowed', `${detail}; --registry-allow ${url.host} allows it`)
    }
    if (challenge.service !== undefined) url.searchParams.set('service', challenge.service)
    url.searchParams.set('scope', `repository:${reference.repository}:pull`)
    const headers: Record<string, string> = basic === undefined ? {} : { authorization: basic }
    const answer = await egress.call(url, { registry: reference.host, headers, signal, follow: true })
    if (answer.status !== 200) {
      answer.body.destroy()
      throw this.refusal(answer.status === 404 ? 401 : answer.status)
    }
    return `Bearer ${readToken(await readBytes(answer.body, TOKEN_MAX_BYTES, this.pace), url)}`
  }

  private basic(): string | undefined {
    const { login } = this.deps
    return login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  }
}

function readToken(bytes: Buffer, url: URL): string {
  const token = TokenAnswer.safeParse(parseJson(bytes.toString())).data
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token
  throw new PullError('unreachable', `${url.host} gives no token`)
}

/** Reads a body. Throws a `PullError` when it exceeds `maxBytes`. */
export async function readBytes(body: Answer['body'], maxBytes: number, pace: PullPace): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length
      pace.take(piece.length)
      if (length > maxBytes) throw new PullError('unusable', `an answer of more than ${maxBytes} bytes`)
      pieces.push(piece)
    }
  } catch (error) {
    throw error instanceof PullError ? error : new PullError('unreachable', `an answer broke off: ${String(error)}`)
  }
  return Buffer.concat(pieces)
}
