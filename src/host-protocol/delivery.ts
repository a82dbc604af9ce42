/**
 * How a host numbers what its workers post, so that the plane knows a post that it has taken already (HOST-22). A number is given once in the
 * life of an agent process, and the posts of one job arrive in the order of their numbers.
 */

/** Set by the agent's relay on every post; what a worker sends under this name goes no further than the relay. */
export const DELIVERY_HEADER = 'podplane-delivery'

/**
 * Set by the relay on a take that it sends again because the connection broke before an answer came: what that answer carried has reached
 * nobody (PP-175). Of what a worker sends, no header but its key and its type goes further than the relay.
 */
export const TAKE_AGAIN_HEADER = 'podplane-take-again'

const FORM = /^([A-Za-z0-9_-]{8,64})\.(\d{1,15})$/

/** One post of a worker: the agent process that received it, and its number there. */
export interface Delivery {
  session: string
  number: number
}

/** The delivery as it stands in the header. */
export function formatDelivery({ session, number }: Delivery): string {
  return `${session}.${number}`
}

/** Reads the header; null when there is none, or when no agent wrote it. */
export function parseDelivery(text: string | null): Delivery | null {
  const [, session, number] = FORM.exec(text ?? '') ?? []
  return session === undefined || number === undefined ? null : { session, number: Number(number) }
}
