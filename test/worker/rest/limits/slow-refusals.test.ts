import { onTestFinished } from 'vitest'
import { formatApiKey } from '../../../../src/domain/key-text.ts'
import { MAX_MISSES } from '../../../../src/domain/misses.ts'
import { PROMPT_REFUSALS, REFUSAL_WAIT_MS } from '../../../../src/domain/refusals.ts'
import { dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import { dropRefusals } from '../../../../src/services/credentials/refusals.ts'
import { api, beforeEach, createAccount, describe, expect, it, vi } from '../../../support/harness.ts'

const unknownKey = () => formatApiKey('0000000000', crypto.getRandomValues(new Uint8Array(32)))
const from = (address: string) => ({ 'X-Forwarded-For': address })

/** Records the pauses before replies instead of waiting. */
function noteWaits() {
  const waits: number[] = []
  const wait = vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => void waits.push(ms))
  onTestFinished(() => wait.mockRestore())
  return waits
}

/** Refusals are counted by window; the clock stands still, so that all of them are in one. */
function stopClock() {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** The set of statuses of `count` simultaneous calls. */
const statusesOf = async (count: number, call: () => Promise<{ status: number }>) =>
  new Set((await Promise.all(Array.from({ length: count }, call))).map(({ status }) => status))

describe('[RATE-30] refusals', () => {
  beforeEach(() => {
    dropCachedDecisions()
    dropRefusals()
  })

  it('are delayed for an address that continues, with unknown keys or without one, and for no other', async () => {
    const waits = noteWaits()
    const { key } = await createAccount()
    expect((await api(key).get('/v2/pods')).status).toBe(200)
    stopClock()
    const guess = () => api(unknownKey()).get('/v2/pods', undefined, from('203.0.113.9'))
    expect([await statusesOf(PROMPT_REFUSALS, guess), waits]).toEqual([new Set([401]), []])
    expect(await statusesOf(20, guess)).toEqual(new Set([429]))
    expect(waits).toEqual(Array.from({ length: 20 }, () => REFUSAL_WAIT_MS))
    expect((await api(null).get('/v2/nothing/health', undefined, from('203.0.113.9'))).status).toBe(401)
    expect(waits).toHaveLength(21)
    expect((await api(key).get('/v2/pods', undefined, from('203.0.113.9'))).status).toBe(200)
    expect((await api(unknownKey()).get('/v2/pods', undefined, from('203.0.113.10'))).status).toBe(401)
    expect(waits).toHaveLength(21)
  })

  it('by limits are delayed for the key that continues, where no address is known', async () => {
    const waits = noteWaits()
    const { key } = await createAccount()
    const other = await createAccount()
    const call = api(key)
    stopClock()
    // Endpoints that do not exist: the first hundred are looked up.
    const ask = () => call.get(`/v2/${crypto.randomUUID().slice(0, 13)}/health`)
    expect([await statusesOf(MAX_MISSES, ask), waits]).toEqual([new Set([404]), []])
    expect(await statusesOf(PROMPT_REFUSALS, ask)).toEqual(new Set([429]))
    expect([await statusesOf(20, ask), waits.length]).toEqual([new Set([429]), 20])
    const before = waits.length
    expect((await call.get('/v2/pods')).status).toBe(200)
    expect((await api(other.key).get('/v2/nothing/health')).status).toBe(404)
    expect(waits).toHaveLength(before)
  })
})
