/** Subject of a delivery: a job of an endpoint, or the account itself. */
export type DeliverySubject = { endpointId: string; jobId: string; teamId?: never } | { endpointId: null; jobId: null; teamId: string }

/**
 * Description of a delivery that an endpoint object, or the sender of an account warning, hands to the team's sender; the body of the
 * request is the body to deliver.
 */
export type HandOver = DeliverySubject & {
  /** `webhook-id`: the same for all attempts and repeats. */
  id: string
  url: string
  /** Length of the body in bytes. */
  bytes: number
}

/** Carries a `HandOver` as URI-encoded JSON, because a URL may contain characters that a header may not. */
const HAND_OVER_HEADER = 'x-delivery'

/** The headers of a request that hands a delivery over. */
export function handOverHeaders(delivery: HandOver): Record<string, string> {
  return { [HAND_OVER_HEADER]: encodeURIComponent(JSON.stringify(delivery)) }
}

/** Reads the delivery that `handOverHeaders` wrote. */
export function readHandOver(headers: Headers): HandOver {
  return JSON.parse(decodeURIComponent(headers.get(HAND_OVER_HEADER) ?? ''))
}
