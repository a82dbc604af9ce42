import { ApiError, ConnectionError } from '../../client/errors.ts'

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

/** First line of an error. Only a request without an answer says that the plane does not answer: a worker's refusal is an answer. */
export function titleOf(error: Error): string {
  return error instanceof ConnectionError ? 'The plane does not answer.' : sentenceOf(error)
}
