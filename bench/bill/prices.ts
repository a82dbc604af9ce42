/**
 * Prices that Cloudflare publishes for its paid plan, USD, without the amounts that the plan includes:
 * https://developers.cloudflare.com/durable-objects/platform/pricing/, and the same pages of Workers and D1.
 */
export const PRICES = {
  /** Date of these prices. */
  date: '2026-11-23',
  /** A row of D1 or of an object; the same price in both. Setting an alarm is a row written. */
  rowWritten: 1 / 1e6,
  rowRead: 0.001 / 1e6,
  /** A request to the Worker. */
  request: 0.3 / 1e6,
  /** A call of an object. An alarm that fires is a call. */
  objectCall: 0.15 / 1e6,
  /** Messages to an object over a WebSocket that count as one call. Messages from it are free. */
  messagesPerCall: 20,
  /** A GB-second of an object that does not hibernate. */
  gbSecond: 12.5 / 1e6,
  /** Memory that is billed for an object, GB. */
  objectGb: 0.128,
} as const
