import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestTls } from 'node:https'
import { waitUntil } from '../../support/time.ts'

/** An answer, read to its end. `body` is the parsed JSON, or undefined without a body. */
export interface Reply<T> {
  status: number
  headers: Headers
  text: string
  body: T
  /** Time from the call until its answer was read, milliseconds. */
  elapsedMs: number
}

export interface CallOptions {
  method?: string
  headers?: Record<string, string>
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown
  signal?: AbortSignal
}

const POLL_MS = 100
/** Much longer than anything but a deadline of the contract takes, even on a busy machine. */
export const PATIENCE_MS = 60_000

/** Sends one request. The caller states the shape of the answer, which its test verifies. */
export async function call<T>(url: string, options: CallOptions = {}): Promise<Reply<T>> {
  const startedAt = performance.now()
  const { method = 'GET', headers = {}, body, signal } = options
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  const elapsedMs = performance.now() - startedAt
  return { status: response.status, headers: response.headers, text, body: parse(text) as T, elapsedMs }
}

/** A call that a test observes while it is under way. */
export interface OpenCall {
  /** Status and headers; rejects when none arrive. */
  started: Promise<{ status: number; headers: IncomingHttpHeaders }>
  /** The text received so far. */
  text(): string
  /** The whole text, once the answer is complete. */
  ended: Promise<string>
  /** Breaks the connection, as a process that dies does. */
  reset(): void
}

/** Sends a request on a connection of its own. */
export function openCall(url: string, options: Omit<CallOptions, 'signal'> = {}): OpenCall {
  const { method = 'GET', headers = {}, body } = options
  let text = ''
  const request = (url.startsWith('https:') ? requestTls : requestHttp)(url, { method, headers, agent: false })
  const started = new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
  })
  const ended = new Promise<string>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => resolve(text))
    })
  })
  // A test that breaks the connection expects no answer.
  for (const promise of [started, ended]) promise.catch(() => undefined)
  request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
  return { started, text: () => text, ended, reset: () => request.socket?.resetAndDestroy() }
}

/** Polls until `probe` returns something; an error names what was waited for. */
export function eventually<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs = PATIENCE_MS): Promise<T> {
  return waitUntil(what, probe, timeoutMs, POLL_MS)
}

/** `promise`, or an error after the timeout. */
export async function within<T>(what: string, promise: Promise<T>, timeoutMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${timeoutMs} ms: ${what}`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
