import { type LookupAddress, lookup } from 'node:dns'
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
/** Until the head of an answer. */
const ANSWER_MS = 20_000
/** Between two pieces of an answer. */
const IDLE_MS = 30_000
/** Some registries refuse callers without a name. */
const USER_AGENT = `podplane-agent/${AGENT_VERSION}`
const CONNECTIONS = { keepAlive: true, timeout: IDLE_MS } as const
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308]

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Has to be read or destroyed. */
  body: IncomingMessage
}

export interface Call {
  /** The registry that is pulled from, in its one spelling. */
  registry: string
  method?: 'GET' | 'HEAD'
  headers?: Record<string, string>
  signal: AbortSignal
  /** Whether redirects are followed; otherwise one is an answer like another. */
  follow?: boolean
}

export type Resolve = (host: string) => Promise<LookupAddress[]>

/**
 * The only way from an agent to a registry (HOST-96). Every address, that of a redirect or of a token service too, is a public one reached by
 * https, unless the operator has allowed its host and nobody else leads there (HOST-103); what was looked at is what is connected to.
 * Credentials never follow a redirect to another origin.
 */
export class Egress {
  private readonly allowed: AllowedRegistries
  /** Connections to what the operator has allowed, in clear and not, and to everything else. */
  private readonly plain = new HttpAgent(CONNECTIONS)
  private readonly inside = new HttpsAgent(CONNECTIONS)
  private readonly outside: HttpsAgent

  constructor(allowed: AllowedRegistries, resolve: Resolve = resolveAll) {
    this.allowed = allowed
    this.outside = new HttpsAgent({ ...CONNECTIONS, lookup: publicLookup(resolve) })
  }

  close(): void {
    for (const agent of [this.plain, this.inside, this.outside]) agent.destroy()
  }

  /** Whether the operator has named a host. */
  isAllowed(host: string): boolean {
    return this.allowed.has(normalRegistryHost(host))
  }

  /** The address of a registry, which is spoken to in clear only where the operator has said so. */
  originOf(host: string): string {
    return `${this.allowed.get(host)?.plainHttp ? 'http' : 'https'}://${host === 'docker.io' ? 'registry-1.docker.io' : host}`
  }

  /** Throws a `PullError`. */
  async call(address: URL, call: Call): Promise<Answer> {
    let url = address
    let headers = call.headers ?? {}
    let isInside = this.allowed.has(call.registry)
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      // HOST-103: what was once led out of the operator's own registries is not led back into them.
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

  /** Refuses an address by what can be seen of it; where a name leads is looked at when it is connected to. */
  private check(url: URL, isInside: boolean): void {
    const allowed = isInside ? this.allowed.get(normalRegistryHost(url.host)) : undefined
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && allowed?.plainHttp === true)
    if (!isSafe) throw new PullError('notAllowed', `${url.protocol}//${url.host} is not https`)
    if (url.username !== '' || url.password !== '') throw new PullError('notAllowed', `an address on ${url.host} carries a login`)
    const bare = url.hostname.replace(/^\[|\]$/g, '')
    // A name that is an address is not looked up.
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

/** Resolves a name once and connects to what was looked at: a name that changes in between leads nowhere else. */
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
  return new PullError('notAllowed', `${host} leads to ${address}, which is not public; --registry-allow ${host} allows it`)
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}

function resolveAll(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })
}
