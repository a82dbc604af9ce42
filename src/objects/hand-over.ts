/** What an endpoint object tells the team's sender about a delivery; the body of the request is the body to send. */
export interface HandOver {
  /** `webhook-id`: the same over all attempts and repeats. */
  id: string
  endpointId: string
  jobId: string
  url: string
  /** Length of the body. */
  bytes: number
}

/** Carries a `HandOver` as URI-encoded JSON. */
export const DELIVERY_HEADER = 'x-delivery'

export function readHandOver(headers: Headers): HandOver {
  return JSON.parse(decodeURIComponent(headers.get(DELIVERY_HEADER) ?? ''))
}
