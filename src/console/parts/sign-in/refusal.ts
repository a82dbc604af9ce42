import { ApiError } from '../../../client/errors.ts'

const REFUSED = {
  key: 'This key is not known here, or it is revoked or expired.',
  link: 'This link was used or has expired. Get a new one.',
} as const

/** Error of a sign-in. The plane answers a wrong credential like that of any request; the page knows which one it was. */
export function refusalOf(by: keyof typeof REFUSED, reason: unknown): Error {
  if (reason instanceof ApiError && reason.status === 401) return new Error(REFUSED[by])
  return reason instanceof Error ? reason : new Error(String(reason))
}
