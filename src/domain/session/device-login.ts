/** Authorizing a device without a browser (RFC 8628), without clock and database. */

const MINUTE_MS = 60_000
/** Time that a user has to approve a device. */
export const DEVICE_LOGIN_TTL_MS = 15 * MINUTE_MS
/** Minimum interval between two polls of a device, and its increase after each early poll (RFC 8628, 3.5). */
export const POLL_INTERVAL_SECONDS = 5
const SLOW_DOWN_SECONDS = 5

/** Stored states of a device: approved, denied, or its key handed out. A waiting device is not stored (DER-9). */
export const DECISIONS = ['APPROVED', 'DENIED', 'TAKEN'] as const
export type Decision = (typeof DECISIONS)[number]

/** Letters of user codes: no vowels, so that no words arise, and no letters that look alike. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
/** Number of random letters: even among a million codes of one minute, two equal ones are unlikely. */
const RANDOM_LETTERS = 9
/** Number of check letters, which only the plane can compute, so that it recognizes its own codes without a row (DER-10). */
const CHECK_LETTERS = 3
const GROUP = 4

/** Normalizes a code that a user typed to capitals without separators. Null: it is not a valid code. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '')
  const isOne = letters.length === RANDOM_LETTERS + CHECK_LETTERS && [...letters].every((letter) => USER_CODE_LETTERS.includes(letter))
  return isOne ? letters : null
}

/** Random letters from random bytes. Bytes that would make some letters more likely are left out; null: too few are left. */
export function randomLettersOf(bytes: Uint8Array): string | null {
  const fair = 256 - (256 % USER_CODE_LETTERS.length)
  const letters = [...bytes].filter((byte) => byte < fair).map((byte) => USER_CODE_LETTERS.charAt(byte % USER_CODE_LETTERS.length))
  return letters.length < RANDOM_LETTERS ? null : letters.slice(0, RANDOM_LETTERS).join('')
}

/** User code from random letters, issued at `nowMs`. `digest` is a keyed hash that only the plane can compute. */
export function userCodeOf(random: string, nowMs: number, digest: (text: string) => string): string {
  return random + checkLetters(random, Math.floor(nowMs / MINUTE_MS), digest)
}

/** Issue time of a code, to the minute, in milliseconds since the epoch; null: never issued, or expired (DER-10). */
export function issuedAt(code: string, nowMs: number, digest: (text: string) => string): number | null {
  const random = code.slice(0, RANDOM_LETTERS)
  const now = Math.floor(nowMs / MINUTE_MS)
  for (let minute = now; minute > now - DEVICE_LOGIN_TTL_MS / MINUTE_MS; minute -= 1) {
    if (code === random + checkLetters(random, minute, digest)) return minute * MINUTE_MS
  }
  return null
}

function checkLetters(random: string, minute: number, digest: (text: string) => string): string {
  const characters = [...digest(`${random} ${minute}`)].slice(0, CHECK_LETTERS)
  return characters.map((character) => USER_CODE_LETTERS.charAt(character.charCodeAt(0) % USER_CODE_LETTERS.length)).join('')
}

/** A code with its letters in groups, for display. */
export function showUserCode(code: string): string {
  return code.match(new RegExp(`.{1,${GROUP}}`, 'g'))?.join('-') ?? code
}

/** Error codes for a polling device, from RFC 8628. */
export type DeviceRefusal = 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied'

/** Polling interval and last poll of a device, in the memory of an isolate. */
export interface Pace {
  intervalSeconds: number
  polledAt: number
}

/** Pace after a poll at `nowMs`, and whether the poll came too soon (DER-12); if so, the interval grows. */
export function paceOf(known: Pace | undefined, nowMs: number): Pace & { isTooSoon: boolean } {
  const intervalSeconds = known?.intervalSeconds ?? POLL_INTERVAL_SECONDS
  const isTooSoon = known !== undefined && nowMs - known.polledAt < intervalSeconds * 1000
  return { intervalSeconds: isTooSoon ? intervalSeconds + SLOW_DOWN_SECONDS : intervalSeconds, polledAt: nowMs, isTooSoon }
}

/** Answer to a device by the decision about it; null: approved. */
export function judgeDecision(decision: Decision | null): DeviceRefusal | null {
  switch (decision) {
    case null:
      return 'authorization_pending'
    case 'DENIED':
      return 'access_denied'
    case 'TAKEN':
      return 'expired_token'
    case 'APPROVED':
      return null
  }
}
