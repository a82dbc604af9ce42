/**
 * Numbers that a host gives to its workers' posts, so that the plane recognizes a repeated post (HOST-22). A number is used once in the
 * life of an agent process, and the posts of one job arrive in the order of their numbers.
 */

/** Set by the agent's relay on every post; the relay drops a header of this name from a worker. */
export const DELIVERY_HEADER = 'podplane-delivery'

/**
 * Set by the relay on a take that it repeats because the connection broke before an answer arrived: the jobs of that answer have reached no
 * worker (LSE-30). The relay forwards no header of a worker except its key, content type and user agent.
 */
export const TAKE_AGAIN_HEADER = 'podplane-take-again'

const FORM = /^([A-Za-z0-9_-]{8,64})\.(\d{1,15})$/

/** Identifies one post of a worker: the agent process that received it, and its number there. */
export interface Delivery {
  session: string
  number: number
}

/** Returns the header value of a delivery. */
export function formatDelivery({ session, number }: Delivery): string {
  return `${session}.${number}`
}

/** Parses the header; null when it is absent or malformed. */
export function parseDelivery(text: string | null): Delivery | null {
  const [, session, number] = FORM.exec(text ?? '') ?? []
  return session === undefined || number === undefined ? null : { session, number: Number(number) }
}
