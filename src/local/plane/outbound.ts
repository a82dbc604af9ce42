import { lookup } from 'node:dns'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { type Request, Response } from 'miniflare'
import { parseIp, parseUrlHost } from '../../domain/webhook/ip-address.ts'
import { mayConnect, OUTBOUND_ERROR_HEADER, parseAllowList, type WebhookAllowList } from '../../domain/webhook/url.ts'
import { hasCode } from '../../node/fail.ts'

/** Idle timeout of a connection, milliseconds. */
const IDLE_TIMEOUT_MS = 60_000
const BAD_GATEWAY = 502
const DEFAULT_PORTS = { http: 80, https: 443 }
const NOTHING_PRIVATE = parseAllowList('')
const NULL_BODY_STATUSES = [101, 204, 205, 304]
/** Headers of one connection or of the runtime, which are not forwarded. */
const NOT_FORWARDED = /^(host|connection|keep-alive|transfer-encoding|upgrade|accept-encoding|expect|mf-.*)$/
const REFUSED = 'EPODPLANEREFUSED'

const REASONS: Readonly<Record<string, string>> = {
  [REFUSED]: 'not sent: the host resolves to an address that is private, loopback, link-local or reserved',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
}

/**
 * The only outgoing path of a local plane (HOOK-7). The runtime itself would connect to any address. This function resolves the name first
 * and connects to an address that was checked, so that no name leads into the machine or its network. Ports of the plane itself are never
 * allowed, because its runtime accepts commands on one of them (HOOK-21).
 */
export function createOutbound(allow: WebhookAllowList, isOwnPort: (port: number) => boolean): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return toResponse(await send(request, isOwnPort(portOf(request.url)) ? NOTHING_PRIVATE : allow))
    } catch (error) {
      return new Response(null, { status: BAD_GATEWAY, headers: { [OUTBOUND_ERROR_HEADER]: reasonOf(error) } })
    }
  }
}

function portOf(text: string): number {
  const { port, protocol } = new URL(text)
  return port === '' ? DEFAULT_PORTS[protocol === 'https:' ? 'https' : 'http'] : Number(port)
}

async function send(request: Request, allow: WebhookAllowList): Promise<IncomingMessage> {
  const url = new URL(request.url)
  // A literal address is not looked up, so the lookup cannot refuse it.
  const address = parseUrlHost(url.hostname)
  if (address && !mayConnect(url.hostname, address, allow)) throw refusal()
  const headers = Object.fromEntries([...request.headers].filter(([name]) => !NOT_FORWARDED.test(name)))
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest
  const outgoing = open(url, { method: request.method, headers, lookup: checkedLookup(allow), agent: false })
  outgoing.setTimeout(IDLE_TIMEOUT_MS, () => outgoing.destroy())
  return await exchange(outgoing, request)
}

function exchange(outgoing: ClientRequest, request: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.once('close', () => reject(new Error('closed')))
    if (request.body === null) {
      outgoing.end()
      return
    }
    const body = Readable.fromWeb(request.body as ReadableStream)
    // The plane has aborted: the receiver must not take a truncated body for a complete one.
    body.once('error', (error) => outgoing.destroy(error))
    body.pipe(outgoing)
  })
}

function toResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? BAD_GATEWAY
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    NOT_FORWARDED.test(name) || value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  )
  if (NULL_BODY_STATUSES.includes(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  // Two declarations of one stream type: Node's own, and the one that `Response` takes.
  return new Response(Readable.toWeb(incoming) as unknown as ConstructorParameters<typeof Response>[0], { status, headers })
}

function checkedLookup(allow: WebhookAllowList): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0)
      const checked = found.filter(({ address }) => {
        const parsed = parseIp(address)
        return parsed !== null && mayConnect(hostname, parsed, allow)
      })
      const [first] = checked
      if (!first) return callback(refusal(), '', 0)
      if (options.all) callback(null, checked)
      else callback(null, first.address, first.family)
    })
  }
}

function refusal(): NodeJS.ErrnoException {
  return Object.assign(new Error('refused'), { code: REFUSED })
}

/** Returns a reason without the error's own text, which contains addresses of this machine's network. */
function reasonOf(error: unknown): string {
  const known = Object.keys(REASONS).find((code) => hasCode(error, code))
  if (known !== undefined) return REASONS[known] ?? ''
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^(ERR_(TLS|SSL)|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/.test(code)
    ? `the TLS handshake failed (${code})`
    : 'the connection failed'
}
