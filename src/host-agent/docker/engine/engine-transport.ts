import { AsyncLocalStorage } from 'node:async_hooks'
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { parseJson } from '../../../node/json-file.ts'

/** Limit of an answer that is read as a whole; answers that can be larger are read as streams. */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20
/** Limit of an error answer; the rest is ignored. */
const MAX_REFUSAL_BYTES = 64 * 2 ** 10

/** Properties of a call that the engine client passes beside the request. */
interface CallContext {
  isStream?: boolean
  /** By status: true for success, otherwise the meaning of the error. */
  statusCodes: Readonly<Record<number, boolean | string>>
  hijack?: boolean
  openStdin?: boolean
}
type Body = string | Buffer | NodeJS.ReadableStream | undefined
type Done = (error: unknown, answer: unknown) => void

/** The part of the engine client that sends calls. */
export interface Modem {
  protocol?: string
  /** Milliseconds. */
  timeout?: number
  buildRequest(options: RequestOptions, context: CallContext, body: Body, done: Done): void
}

/**
 * Replaces the function with which the engine client sends calls (HOST-66). The original follows redirects to any address, and reads
 * answers of any size inside event handlers, where an exception ends the process. Here every call settles, and every failure becomes its
 * error.
 */
export function guardTransport(modem: Modem): void {
  if (modem.protocol === 'ssh') throw new Error('an engine behind ssh:// cannot run workloads of this machine; set DOCKER_HOST to its own')
  modem.buildRequest = (options, context, body, done) => {
    call(modem, options, context, body).then(
      (answer) => done(null, answer),
      (error: unknown) => done(error, null),
    )
  }
}

const givenUp = new AsyncLocalStorage<AbortSignal>()

/** Runs `work`; when the signal fires, its open calls are aborted. */
export function withSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return givenUp.run(signal, work)
}

async function call(modem: Modem, options: RequestOptions, context: CallContext, body: Body): Promise<unknown> {
  if (context.hijack) return await openBothWays(modem, options, context, body)
  if (context.openStdin) throw new Error('this agent does not attach to containers')
  const response = await open(modem, options, body)
  const status = response.statusCode ?? 0
  const meaning = context.statusCodes[status]
  if (meaning !== true) throw await refusalOf(response, status, meaning)
  if (context.isStream) return response
  const answer = await readUpTo(response, MAX_ANSWER_BYTES)
  if (answer.cut) throw new Error(`the engine's answer is longer than ${MAX_ANSWER_BYTES / 2 ** 20} MiB`)
  return parseJson(answer.bytes.toString()) ?? answer.bytes
}

function open({ protocol, timeout }: Modem, options: RequestOptions, body: Body): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const signal = givenUp.getStore()
    const signals = signal === undefined || options.signal !== undefined ? {} : { signal }
    const request = (protocol === 'https' ? requestHttps : requestHttp)({ ...options, ...signals }, (response) => {
      // A stream without a reader may still fail.
      response.on('error', () => {})
      resolve(response)
    })
    request.on('error', reject)
    if (timeout !== undefined) request.setTimeout(timeout, () => request.destroy(new Error(`no answer within ${timeout} ms`)))
    if (typeof body !== 'object' || Buffer.isBuffer(body)) return void request.end(body)
    body.on('error', (error: Error) => request.destroy(error))
    body.pipe(request)
  })
}

/** Opens a connection for both directions, once the engine has upgraded it. */
function openBothWays({ protocol, timeout }: Modem, options: RequestOptions, context: CallContext, body: Body): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request = (protocol === 'https' ? requestHttps : requestHttp)(options)
    request.on('upgrade', (_response, connection, first) => {
      connection.setTimeout(0)
      if (first.length > 0) connection.unshift(first)
      resolve(connection)
    })
    request.on('response', (response) => {
      const status = response.statusCode ?? 0
      refusalOf(response, status, context.statusCodes[status]).then(reject, reject)
    })
    request.on('error', reject)
    if (timeout !== undefined) request.setTimeout(timeout, () => request.destroy(new Error(`no answer within ${timeout} ms`)))
    request.end(typeof body === 'string' ? body : undefined)
  })
}

/** An error in the format of the engine client's own errors. */
async function refusalOf(response: IncomingMessage, status: number, meaning: boolean | string | undefined): Promise<Error> {
  const text = (await readUpTo(response, MAX_REFUSAL_BYTES)).bytes.toString()
  const json = parseJson(text)
  const cause = status >= 300 && status < 400 ? 'the engine redirects this call, which is refused' : (messageOf(json) ?? text)
  const error = new Error(`(HTTP code ${status}) ${meaning || 'unexpected'} - ${cause} `)
  return Object.assign(error, { reason: meaning, statusCode: status, json })
}

function messageOf(json: unknown): string | undefined {
  return typeof json === 'object' && json !== null && 'message' in json ? String(json.message) : undefined
}

async function readUpTo(response: IncomingMessage, maxBytes: number): Promise<{ bytes: Buffer; cut: boolean }> {
  const pieces: Buffer[] = []
  let left = maxBytes
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece.subarray(0, left))
    left -= piece.length
    // Leaving the loop destroys the connection.
    if (left < 0) return { bytes: Buffer.concat(pieces), cut: true }
  }
  return { bytes: Buffer.concat(pieces), cut: false }
}
