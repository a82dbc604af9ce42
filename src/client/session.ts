import type { z } from 'zod'
import type { ConsoleState, SignedIn as SignedInSchema } from '../contract/console/session.ts'
import type { DescribedLink as DescribedLinkSchema } from '../contract/console/sign-in-links.ts'
import { ApiError, ConnectionError } from './errors.ts'

export type SignedIn = z.output<typeof SignedInSchema>
/** Sign-in methods that this plane offers. */
export type SignInWays = SignedIn['ways']
/** User that a sign-in link would sign in. */
export type DescribedLink = z.output<typeof DescribedLinkSchema>
/** Session of a browser's cookie. */
export type Session = z.output<typeof ConsoleState>

const SESSION = '/console/session'
/** Header that a page of another origin cannot set; it proves that the console itself sends the request. */
export const CONSOLE_HEADERS = { 'x-requested-with': 'podplane' }

/** Reads the session of the browser. Throws `ApiError`, `ConnectionError`. */
export async function readSession(url: string, signal?: AbortSignal): Promise<Session> {
  return (await call(url, 'GET', SESSION, undefined, signal)) as Session
}

/** Signs in with an API key, or with the single-use link that a plane has printed. */
export async function signIn(url: string, by: { key: string } | { link: string }): Promise<Session> {
  return (await call(url, 'POST', SESSION, by)) as Session
}

/** Reads which user a link would sign in, without using it up. Throws `ApiError`, `ConnectionError`. */
export async function describeLink(url: string, link: string): Promise<DescribedLink> {
  return (await call(url, 'POST', `${SESSION}/link`, { link })) as DescribedLink
}

/** Ends the session of this browser. Throws `ApiError`, `ConnectionError`. */
export async function signOut(url: string): Promise<void> {
  await call(url, 'DELETE', SESSION)
}

async function call(url: string, method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const what = `${method} ${path}`
  const response = await fetch(url + path, {
    method,
    headers: { ...CONSOLE_HEADERS, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    redirect: 'error',
  }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new ConnectionError(what, error)
  })
  const text = await response.text()
  if (!response.ok) throw new ApiError(what, response, text)
  return text === '' ? undefined : JSON.parse(text)
}
