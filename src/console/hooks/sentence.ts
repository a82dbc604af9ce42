import { ApiError } from '../../client/client.ts'

/** Message of the plane without the method and path of the request. */
export function sentenceOf(error: Error): string {
  return error instanceof ApiError ? error.message.replace(/^[A-Z]+ \S+: \d+ /, '') : error.message
}
