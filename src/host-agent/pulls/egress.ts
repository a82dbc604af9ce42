import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { normalRegistryHost } from '../../host-protocol/registry-host.ts'
import { errorText } from '../../node/fail.ts'
import { AGENT_VERSION } from '../version.ts'
import { isPublicAddress } from './addresses.ts'
import type { AllowedRegistries } from './allowed-registries.ts'
import { PullError } from './pull-error.ts'

const REDIRECTS_MAX = 5
/** Timeout for the head of an answer. */
const ANSWER_MS = 20_000
/** Timeout between two chunks of an answer. */
const IDLE_MS = 30_000
/** Some registries refuse requests without a user agent. */
const USER_AGENT = `podplane-agent/${AGENT_VERSION}`
const CONNECTIONS = { keepAlive: true, timeout: IDLE_MS } as const
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308]

/** An answer of a registry, a token service or a storage service. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** The receiver must read or destroy it. */
  body: IncomingMessage
}

/** A request for the pull of an image. */
export interface Call {
  /** The host of the registry that the image comes from, normalized. */
  registry: string
  method?: 'GET' | 'HEAD'
  headers?: Record<string, string>
  signal: AbortSignal
  /** Whether redirects are followed; otherwise a redirect is returned like any other answer. */
  follow?: boolean
}

/** Resolves the name of a host to its addresses. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/**
 * The only way from an agent to a registry (HOST-96). Every address, also of a redirect or a token service, must be public and use https,
 * unless the operator has allowed its host, the registry and every host between them in the chain (HOST-103). A name is resolved once, and
 * the checked address is the one connected to. Credentials never follow a redirect to another origin.
 */
export class Egress {
  private readonly allowed: AllowedRegistries
  /** Connections to hosts that the operator has allowed, by plain HTTP and by TLS, and to all others. */
  private readonly plain = new HttpAgent(CONNECTIONS)
  private readonly inside = new HttpsAgent(CONNECTIONS)
  private readonly outside: HttpsAgent

  constructor(allowed: AllowedRegistries, resolve: Resolve = (host) => lookup(host, { all: true })) {
    this.allowed = allowed
    this.outside = new HttpsAgent({ ...CONNECTIONS, lookup: publicLookup(resolve) })
  }

  close(): void {
    for (const agent of [this.plain, this.inside, this.outside]) agent.destroy()
  }

  /** Whether the operator has allowed a host. */
  isAllowed(host: string): boolean {
    return this.allowed.has(normalRegistryHost(host))
  }

  /** Returns the origin of a registry: plain HTTP only where the operator has allowed it. */
  originOf(host: string): string {
    return `${this.allowed.get(host)?.plainHttp ? 'http' : 'https'}://${host === 'docker.io' ? 'registry-1.docker.io' : host}`
  }

  /** Sends a request and follows redirects if asked. Throws a `PullError`. */
  async call(address: URL, call: Call): Promise<Answer> {
    let url = address
    let headers = call.headers ?? {}
    let isInside = this.allowed.has(call.registry)
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      // HOST-103: a chain of redirects that has left the operator's registries must not lead back to them.
      isInside &&= this.allowed.has(normalRegistryHost(url.host))
      this.check(url, isInside)
      const answer = await this.send(url, { ...call, headers }, isInside)
      const location = answer.headers.location
      if (call.follow !== true || !REDIRECTS.includes(answer.status) || location === undefined) return answer
      answer.body.destroy()
      const next = URL.parse(location, url.href)
      if (next === null) throw new PullError('unreachable', `${url.host} redirects to what is no address`)
      if (next.origin !== url.origin) headers = withoutCredentials(headers)
      url = next
    }
    throw new PullError('unreachable', `${url.host} redirects more than ${REDIRECTS_MAX} times`)
  }

  /** Refuses an address by its URL; the addresses of a host name are checked when it is resolved (`publicLookup`). */
  private check(url: URL, isInside: boolean): void {
    const allowed = isInside ? this.allowed.get(normalRegistryHost(url.host)) : undefined
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && allowed?.plainHttp === true)
    if (!isSafe) throw new PullError('notAllowed', `${url.protocol}//${url.host} is not https`)
    if (url.username !== '' || url.password !== '') throw new PullError('notAllowed', `an address on ${url.host} carries a login`)
    const bare = url.hostname.replace(/^\[|\]$/g, '')
    // A host that is an IP address is not resolved, so it is checked here.
    if (allowed === undefined && isIP(bare) !== 0 && !isPublicAddress(bare)) throw notPublic(url.host, bare)
  }

  protected async send(url: URL, { method = 'GET', headers, signal }: Call, isInside: boolean): Promise<Answer> {
    const isPlain = url.protocol === 'http:'
    try {
      return await new Promise((resolve, reject) => {
        const agent = isPlain ? this.plain : isInside ? this.inside : this.outside
        const request = (isPlain ? requestHttp : requestHttps)(
          url,
          { method, agent, signal, headers: { 'user-agent': USER_AGENT, ...headers, host: url.host } },
          (body) => {
            body.on('error', () => {})
            body.setTimeout(IDLE_MS, () => body.destroy(new Error(`nothing came for ${IDLE_MS} ms`)))
            clearTimeout(timer)
            resolve({ status: body.statusCode ?? 0, headers: body.headers, body })
          },
        )
        const timer = setTimeout(() => request.destroy(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS)
        request.on('error', reject)
        request.on('close', () => clearTimeout(timer))
        request.end()
      })
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof PullError ? error : new PullError('unreachable', `${url.host}: ${errorText(error)}`)
    }
  }
}

/** Resolves a name once and connects to a checked address, so that a DNS change between check and connect has no effect. */
function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname).then(
      (addresses) => {
        const hidden = addresses.find(({ address }) => !isPublicAddress(address))
        const [first] = addresses
        if (hidden !== undefined || first === undefined) return done(notPublic(hostname, hidden?.address ?? 'nowhere'), '', 0)
        if (options.all === true) done(null, addresses)
        else done(null, first.address, first.family)
      },
      (error: Error) => done(error, '', 0),
    )
  }
}

function notPublic(host: string, address: string): PullError {
  return new PullError('notAllowed', `${host} resolves to ${address}, which is not public; --registry-allow ${host} allows it`)
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}
