/** What a delivery is about: a job of an endpoint, or else the account itself. */
export type DeliverySubject = { endpointId: string; jobId: string; teamId?: never } | { endpointId: null; jobId: null; teamId: string }

/** What an endpoint object, or whoever warns an account, tells the team's sender about a delivery; the body of the request is the body to send. */
export type HandOver = DeliverySubject & {
  /** `webhook-id`: the same over all attempts and repeats. */
  id: string
  url: string
  /** Length of the body. */
  bytes: number
}

/** Carries a `HandOver` as URI-encoded JSON, because a URL may hold what a header may not. */
const HAND_OVER_HEADER = 'x-delivery'

/** The headers of a request that hands a delivery over. */
export function handOverHeaders(delivery: HandOver): Record<string, string> {
  return { [HAND_OVER_HEADER]: encodeURIComponent(JSON.stringify(delivery)) }
}

/** What `handOverHeaders` wrote. */
export function readHandOver(headers: Headers): HandOver {
  return JSON.parse(decodeURIComponent(headers.get(HAND_OVER_HEADER) ?? ''))
}
