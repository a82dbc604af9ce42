import { createHash } from 'node:crypto'
import {
  DEVICE_LOGIN_TTL_MS,
  issuedAt,
  judgeDecision,
  paceOf,
  randomLettersOf,
  readUserCode,
  showUserCode,
  USER_CODE_LETTERS,
  userCodeOf,
} from '../../../src/domain/session/device-login.ts'
import { describe, expect, it } from '../../support/unit.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
const MINUTE = 60_000
const RANDOM = 'BCDFGHJKL'

describe('the code that a device shows', () => {
  it.each(['WDJBMJHTKLQP', 'wdjb-mjht-klqp', ' WDJB MJHT KLQP ', 'w-d-j-b-m-j-h-t-k-l-q-p'])('[SESSION-19] %j is read', (text) => {
    expect(readUserCode(text)).toBe('WDJBMJHTKLQP')
  })

  it.each(['', 'WDJB', 'WDJBMJHT', 'WDJBMJHTKLQPX', 'AEIOUAEIOUAE', '123456789012'])('[SESSION-19] %j is refused', (text) => {
    expect(readUserCode(text)).toBeNull()
  })

  it('[SESSION-18] has each letter as likely as the others', () => {
    const every = Uint8Array.from({ length: 256 }, (_, value) => value)
    const counts = new Map<string, number>()
    for (let from = 0; from + 9 <= 240; from += 9) {
      for (const letter of randomLettersOf(every.subarray(from, from + 9)) ?? '') counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    for (const byte of every.subarray(234, 240)) {
      const letter = (randomLettersOf(new Uint8Array(9).fill(byte)) ?? '').charAt(0)
      counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    expect([...counts.keys()].toSorted().join('')).toBe(USER_CODE_LETTERS)
    expect([...new Set(counts.values())]).toEqual([12])
    expect(randomLettersOf(every.subarray(240))).toBeNull()
    expect(showUserCode('WDJBMJHTKLQP')).toBe('WDJB-MJHT-KLQP')
  })

  it('[S9] [DER-10] contains its issue time, for 15 minutes, and is invalid with another letter', () => {
    const at = 100 * MINUTE
    const code = userCodeOf(RANDOM, at + 59_999, digest)
    expect(issuedAt(code, at + 59_999, digest)).toBe(at)
    expect(issuedAt(code, at + DEVICE_LOGIN_TTL_MS - 1, digest)).toBe(at)
    expect(issuedAt(code, at + DEVICE_LOGIN_TTL_MS, digest)).toBeNull()
    expect(issuedAt(code, at - 1, digest)).toBeNull()
    const letters = [...USER_CODE_LETTERS]
    const ends = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
    // One for each minute in which a code with these letters could have begun.
    expect(ends.filter((end) => issuedAt(RANDOM + end, at, digest) !== null)).toHaveLength(15)
  })
})

describe('a device that polls', () => {
  it.each([
    [undefined, 0, { intervalSeconds: 5, polledAt: 0, isTooSoon: false }],
    [{ intervalSeconds: 5, polledAt: 0 }, 4_999, { intervalSeconds: 10, polledAt: 4_999, isTooSoon: true }],
    [{ intervalSeconds: 5, polledAt: 0 }, 5_000, { intervalSeconds: 5, polledAt: 5_000, isTooSoon: false }],
    [{ intervalSeconds: 10, polledAt: 0 }, 9_999, { intervalSeconds: 15, polledAt: 9_999, isTooSoon: true }],
    [{ intervalSeconds: 10, polledAt: 0 }, 10_000, { intervalSeconds: 10, polledAt: 10_000, isTooSoon: false }],
  ])('[SESSION-20] [DER-12] at the pace %j at %d ms has the pace %j', (known, nowMs, pace) => expect(paceOf(known, nowMs)).toEqual(pace))

  it.each([
    [null, 'authorization_pending'],
    ['DENIED' as const, 'access_denied'],
    ['TAKEN' as const, 'expired_token'],
    ['APPROVED' as const, null],
  ])('[SESSION-20] with the decision %j gets %j', (decision, received) => expect(judgeDecision(decision)).toBe(received))
})
