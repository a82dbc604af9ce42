/** Letting a device in that has no browser (RFC 8628), without clock and database. */

/** Somebody has to let a device in within this time. */
export const DEVICE_LOGIN_TTL_MS = 15 * 60_000
/** How long a device waits between two questions, and by how much longer each time it does not (RFC 8628, 3.5). */
export const POLL_INTERVAL_SECONDS = 5
const SLOW_DOWN_SECONDS = 5
/** Devices that wait at a time, of all the plane. */
export const MAX_DEVICE_LOGINS = 10_000

/** Without vowels, so that no words come about, and without what looks alike. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const USER_CODE_LENGTH = 8
const HALF = USER_CODE_LENGTH / 2

/** A code as somebody types it, as it is stored: whatever stands between its letters, and however large they are. Null: it is none. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '')
  const isOne = letters.length === USER_CODE_LENGTH && [...letters].every((letter) => USER_CODE_LETTERS.includes(letter))
  return isOne ? letters : null
}

/** A code from random bytes, of which those that would make a letter more likely than others are left out; null: too few are left. */
export function userCodeOf(bytes: Uint8Array): string | null {
  const fair = 256 - (256 % USER_CODE_LETTERS.length)
  const letters = [...bytes].filter((byte) => byte < fair).map((byte) => USER_CODE_LETTERS.charAt(byte % USER_CODE_LETTERS.length))
  return letters.length < USER_CODE_LENGTH ? null : letters.slice(0, USER_CODE_LENGTH).join('')
}

/** A code as it is shown. */
export function showUserCode(code: string): string {
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`
}

/** What a device that asks is told, in the words of RFC 8628. */
export type DeviceRefusal = 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied'

/** A device as it waits. */
export interface WaitingDevice {
  status: 'PENDING' | 'APPROVED' | 'DENIED'
  expiresAt: number
  intervalSeconds: number
  polledAt: number | null
}

/** What a device is told that asks now, and how long it has to wait from then on; null: it has been let in. */
export function judgePoll(
  { status, expiresAt, intervalSeconds, polledAt }: WaitingDevice,
  nowMs: number,
): { refusal: DeviceRefusal; intervalSeconds: number } | null {
  if (expiresAt <= nowMs) return { refusal: 'expired_token', intervalSeconds }
  const isTooSoon = polledAt !== null && nowMs - polledAt < intervalSeconds * 1000
  if (isTooSoon) return { refusal: 'slow_down', intervalSeconds: intervalSeconds + SLOW_DOWN_SECONDS }
  if (status === 'DENIED') return { refusal: 'access_denied', intervalSeconds }
  return status === 'PENDING' ? { refusal: 'authorization_pending', intervalSeconds } : null
}
