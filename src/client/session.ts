/** Signing in at the console of a plane, by types of its contract alone. */

import type { z } from 'zod'
import type { ConsoleState } from '../contract/console/session.ts'
import { type CallOptions, Transport, type TransportOptions } from './transport.ts'

export type SessionState = z.infer<typeof ConsoleState>

const SESSION = '/console/session'

/** What a page of the console asks of its session. The cookie is set by the answers; no page ever sees it. */
export interface SessionClient {
  /** Who is signed in, and how somebody may be. */
  state(options?: CallOptions): Promise<SessionState>
  /** Throws `ApiError`: 401 for a key or link that is not good, 429 after too many of them. */
  signIn(by: { key: string } | { link: string }, options?: CallOptions): Promise<SessionState>
  signOut(options?: CallOptions): Promise<void>
}

/** The address that leads to the identity provider and back to a page of the console; to be opened, not fetched. */
export function signInAddress(url: string, returnTo: string): string {
  return `${url.replace(/\/+$/, '')}/console/sign-in?return=${encodeURIComponent(returnTo)}`
}

/** A client for the session of this browser. */
export function sessionClient(options: Omit<TransportOptions, 'credentials'>): SessionClient {
  const transport = new Transport({ ...options, credentials: 'cookie' })
  return {
    state: async (call = {}) => (await transport.json({ ...call, method: 'GET', path: SESSION })) as SessionState,
    signIn: async (by, call = {}) => (await transport.json({ ...call, method: 'POST', path: SESSION, body: by })) as SessionState,
    signOut: async (call = {}) => {
      await transport.json({ ...call, method: 'DELETE', path: SESSION })
    },
  }
}
