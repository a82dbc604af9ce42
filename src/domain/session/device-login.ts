/** Letting a device in that has no browser (RFC 8628), without clock and database. */

const MINUTE_MS = 60_000
/** Somebody has to let a device in within this time. */
export const DEVICE_LOGIN_TTL_MS = 15 * MINUTE_MS
/** How long a device waits between two questions, and by how much longer each time it does not (RFC 8628, 3.5). */
export const POLL_INTERVAL_SECONDS = 5
const SLOW_DOWN_SECONDS = 5

/** What is stored of a device: that somebody has let it in, or has not, or that it has its key. One that waits is not stored (DER-9). */
export const DECISIONS = ['APPROVED', 'DENIED', 'TAKEN'] as const
export type Decision = (typeof DECISIONS)[number]

/** Without vowels, so that no words come about, and without what looks alike. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
/** Letters by chance: of a million codes of one minute no other is likely to be the same. */
const RANDOM_LETTERS = 9
/** Letters that only the plane can add, so that a code which it never gave out is known without a row (DER-10). */
const CHECK_LETTERS = 3
const GROUP = 4

/** A code as somebody types it, without what stands between its letters, and in capitals. Null: it is none. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '')
  const isOne = letters.length === RANDOM_LETTERS + CHECK_LETTERS && [...letters].every((letter) => USER_CODE_LETTERS.includes(letter))
  return isOne ? letters : null
}

/** The letters by chance, from random bytes of which those that would make a letter more likely are left out; null: too few are left. */
export function randomLettersOf(bytes: Uint8Array): string | null {
  const fair = 256 - (256 % USER_CODE_LETTERS.length)
  const letters = [...bytes].filter((byte) => byte < fair).map((byte) => USER_CODE_LETTERS.charAt(byte % USER_CODE_LETTERS.length))
  return letters.length < RANDOM_LETTERS ? null : letters.slice(0, RANDOM_LETTERS).join('')
}

/** A code of some letters that is given out at `nowMs`. `digest` is a keyed hash that the plane alone can make. */
export function userCodeOf(random: string, nowMs: number, digest: (text: string) => string): string {
  return random + checkLetters(random, Math.floor(nowMs / MINUTE_MS), digest)
}

/** When a code was given out, to the minute, in milliseconds; null: never, or too long ago (DER-10). */
export function givenOutAt(code: string, nowMs: number, digest: (text: string) => string): number | null {
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

/** A code as it is shown. */
export function showUserCode(code: string): string {
  return code.match(new RegExp(`.{1,${GROUP}}`, 'g'))?.join('-') ?? code
}

/** What a device that asks is told, in the words of RFC 8628. */
export type DeviceRefusal = 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied'

/** How a device asks, as far as an isolate remembers. */
export interface Pace {
  intervalSeconds: number
  polledAt: number
}

/** The pace of a device that asks now, and whether it asks too soon (DER-12): then it has to wait longer from now on. */
export function paceOf(known: Pace | undefined, nowMs: number): Pace & { isTooSoon: boolean } {
  const intervalSeconds = known?.intervalSeconds ?? POLL_INTERVAL_SECONDS
  const isTooSoon = known !== undefined && nowMs - known.polledAt < intervalSeconds * 1000
  return { intervalSeconds: isTooSoon ? intervalSeconds + SLOW_DOWN_SECONDS : intervalSeconds, polledAt: nowMs, isTooSoon }
}

/** What a device is told by what was decided of it; null: it has been let in. */
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
