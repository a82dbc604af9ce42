import { judgePoll, readUserCode, showUserCode, USER_CODE_LETTERS, userCodeOf } from '../../../src/domain/session/device-login.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('the code that a device shows', () => {
  it.each(['WDJBMJHT', 'wdjb-mjht', ' WDJB MJHT ', 'w-d-j-b-m-j-h-t'])('[CS-19] %j is read', (text) => {
    expect(readUserCode(text)).toBe('WDJBMJHT')
  })

  it.each(['', 'WDJB', 'WDJBMJHTX', 'AEIOUAEI', '12345678'])('[CS-19] %j is none', (text) => expect(readUserCode(text)).toBeNull())

  it('[CS-18] has each letter as likely as the others', () => {
    const every = Uint8Array.from({ length: 256 }, (_, value) => value)
    const counts = new Map<string, number>()
    for (let from = 0; from < 240; from += 8) {
      for (const letter of userCodeOf(every.subarray(from, from + 8)) ?? '') counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    expect([...counts.keys()].toSorted().join('')).toBe(USER_CODE_LETTERS)
    expect([...new Set(counts.values())]).toEqual([12])
    expect(userCodeOf(every.subarray(240))).toBeNull()
    expect(showUserCode('WDJBMJHT')).toBe('WDJB-MJHT')
  })
})

describe('a device that asks', () => {
  const waiting = { status: 'PENDING', expiresAt: 900_000, intervalSeconds: 5, polledAt: null } as const
  it.each([
    [waiting, 0, { refusal: 'authorization_pending', intervalSeconds: 5 }],
    [{ ...waiting, polledAt: 0 }, 4_999, { refusal: 'slow_down', intervalSeconds: 10 }],
    [{ ...waiting, polledAt: 0 }, 5_000, { refusal: 'authorization_pending', intervalSeconds: 5 }],
    [{ ...waiting, polledAt: 0, status: 'APPROVED' as const }, 4_999, { refusal: 'slow_down', intervalSeconds: 10 }],
    [{ ...waiting, status: 'DENIED' as const }, 0, { refusal: 'access_denied', intervalSeconds: 5 }],
    [{ ...waiting, status: 'APPROVED' as const }, 0, null],
    [{ ...waiting, status: 'APPROVED' as const }, 900_000, { refusal: 'expired_token', intervalSeconds: 5 }],
    [waiting, 900_000, { refusal: 'expired_token', intervalSeconds: 5 }],
  ])('[CS-20] %j at %d ms is told %j', (device, nowMs, told) => expect(judgePoll(device, nowMs)).toEqual(told))
})
