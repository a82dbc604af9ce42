import type { z } from 'zod'
import type { DeviceToken, StartedDevice } from '../contract/console/device.ts'
import { ApiError, ConnectionError } from './errors.ts'
import { pause } from './transport.ts'

/** Codes and addresses of a device login (RFC 8628). */
export type DeviceLogin = z.output<typeof StartedDevice>
/** API key of a device, with its account. */
export type DeviceKey = z.output<typeof DeviceToken>

export interface WaitOptions {
  signal?: AbortSignal
  /** Replaces the pause in tests. */
  pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  fetch?: typeof fetch
}

const TIMEOUT_MS = 30_000
const START = '/console/device'
const TOKEN = '/console/device/token'
/** Seconds added to the polling interval after `slow_down` or when no answer came (RFC 8628 §3.5). */
const SLOW_DOWN_SECONDS = 5

/**
 * Starts a device login. The caller shows `user_code` and, if there is a browser, opens `verification_uri_complete`. Throws `ApiError`,
 * `ConnectionError`.
 */
export async function startDeviceLogin(url: string, name: string, options: WaitOptions = {}): Promise<DeviceLogin> {
  const response = await post(url, START, { name }, options)
  if (!response.ok) throw new ApiError(`POST ${START}`, response, await response.text())
  return (await response.json()) as DeviceLogin
}

/**
 * Polls until a user has approved the device and returns its key, which the plane sends only once. Throws `ApiError` with the code
 * `access_denied` or `expired_token` if the login is refused or expires, and the reason of the signal once it fires.
 */
export async function waitForDeviceKey(url: string, login: DeviceLogin, options: WaitOptions = {}): Promise<DeviceKey> {
  let intervalSeconds = login.interval
  let askedToWaitMs = 0
  for (;;) {
    await (options.pause ?? pause)(Math.max(intervalSeconds * 1000, askedToWaitMs), options.signal)
    askedToWaitMs = 0
    const response = await post(url, TOKEN, { device_code: login.device_code }, options).catch((error: unknown) => {
      if (error instanceof ConnectionError) return null
      throw error
    })
    if (response === null) {
      intervalSeconds += SLOW_DOWN_SECONDS
      continue
    }
    const text = await response.text()
    if (response.ok) return JSON.parse(text) as DeviceKey
    const error = new ApiError(`POST ${TOKEN}`, response, text)
    if (error.code === 'slow_down') intervalSeconds += SLOW_DOWN_SECONDS
    else if (error.retryable) askedToWaitMs = error.retryAfterMs ?? 0
    else if (error.code !== 'authorization_pending') throw error
  }
}

function post(url: string, path: string, body: unknown, { signal, fetch: send = fetch }: WaitOptions): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return send(url.replace(/\/+$/, '') + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new ConnectionError(`POST ${path}`, error)
  })
}
