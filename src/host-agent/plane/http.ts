import { OperatorError } from '../../node/fail.ts'
import { parseJson } from '../../node/json-file.ts'
import type { PlaneClock } from './clock-offset.ts'

const TIMEOUT_MS = 20_000
const DETAIL_MAX_CHARS = 500

/** A response of the plane; its body has been read and parsed. */
export interface PlaneAnswer {
  status: number
  body: unknown
  /** The plane's explanation of a refusal, cut to `DETAIL_MAX_CHARS`. */
  detail: string
  /** Whether this response corrected the estimate of the plane's clock. */
  clockCorrected: boolean
}

/** Posts JSON to the plane. Throws only when the plane cannot be reached or does not answer within `TIMEOUT_MS`. */
export async function postToPlane(url: string, body: unknown, clock: PlaneClock, accessToken?: string): Promise<PlaneAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }) },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const text = await response.text()
  const parsed = parseJson(text)
  return {
    status: response.status,
    body: parsed,
    detail: detailOf(parsed, text),
    clockCorrected: clock.update(response.headers.get('date')),
  }
}

/** Whether a status is temporary (5xx, 408, 425 or 429), so that a later retry may succeed. */
export function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** Returns the plane's address for `path`, below the path prefix of `--url`. */
export function planeUrl(base: string, path: string): string {
  return base.replace(/\/+$/, '') + path
}

/**
 * Validates `--url`. `insecure`: the operator accepts that keys, env and logins cross the network unencrypted (HOST-80). Throws an
 * `OperatorError` for another scheme, and for plain http to another machine unless `insecure`.
 */
export function parsePlaneUrl(text: string, insecure = false): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new OperatorError(`--url '${text}' is not an http or https address; pass the plane's, such as --url http://127.0.0.1:8787`)
  }
  if (url.protocol === 'http:' && !insecure && !isThisMachine(url.hostname)) {
    throw new OperatorError(
      `--url '${text}' is plain http to another machine: all keys and env are readable in transit; use https, or pass --insecure-plane if the network itself is private`,
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function detailOf(body: unknown, text: string): string {
  const problem: { detail?: unknown; title?: unknown; error?: unknown } = typeof body === 'object' && body !== null ? body : {}
  const word = [problem.detail, problem.title, problem.error].find((candidate) => typeof candidate === 'string')
  return String(word ?? text).slice(0, DETAIL_MAX_CHARS)
}
