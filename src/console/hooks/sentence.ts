import { ApiError } from '../../client/client.ts'

/** Message of the plane without the method and path of the request. */
export function sentenceOf(error: Error): string {
  return error instanceof ApiError ? error.message.replace(/^[A-Z]+ \S+: \d+ /, '') : error.message
}

/** Message of any thrown value; that of the plane names its request. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const request = error instanceof ApiError && error.requestId !== undefined ? ` (request ${error.requestId})` : ''
  return `${sentenceOf(error)}${request}`
}
