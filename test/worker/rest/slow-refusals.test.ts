import { onTestFinished } from 'vitest'
import { formatApiKey } from '../../../src/domain/key-text.ts'
import { PROMPT_REFUSALS, REFUSAL_WAIT_MS } from '../../../src/domain/refusals.ts'
import { forgetVerdicts } from '../../../src/services/credentials/authenticate.ts'
import { forgetRefusals } from '../../../src/services/credentials/refusals.ts'
import { api, beforeEach, createAccount, describe, expect, it, vi } from '../../support/harness.ts'

const MANY = PROMPT_REFUSALS + 20
const TEST_MS = 30_000
const unknownKey = () => formatApiKey('0000000000', crypto.getRandomValues(new Uint8Array(32)))
const from = (address: string) => ({ 'X-Forwarded-For': address })

/** What answers wait from now on, without the time that it takes. */
function noteWaits() {
  const waits: number[] = []
  const wait = vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => void waits.push(ms))
  onTestFinished(() => wait.mockRestore())
  return waits
}

/** Again when the window of the count has ended in the middle. */
const inOneWindow = (run: () => Promise<void>) => vi.waitFor(run, { timeout: TEST_MS / 2 })

describe('[SEC-11] refusals', () => {
  beforeEach(() => {
    forgetVerdicts()
    forgetRefusals()
  })

  it('wait for an address that asks on, with unknown keys or without one, and for nobody else', { timeout: TEST_MS }, async () => {
    const waits = noteWaits()
    const { key } = await createAccount()
    expect((await api(key).get('/v2/pods')).status).toBe(200)
    await inOneWindow(async () => {
      forgetRefusals()
      waits.length = 0
      const flood = Array.from({ length: MANY }, () => api(unknownKey()).get('/v2/pods', undefined, from('203.0.113.9')))
      const statuses = (await Promise.all(flood)).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([401, 429]))
      expect(waits).toEqual(Array.from({ length: MANY - PROMPT_REFUSALS }, () => REFUSAL_WAIT_MS))
      expect((await api(null).get('/v2/nothing/health', undefined, from('203.0.113.9'))).status).toBe(401)
      expect(waits).toHaveLength(MANY - PROMPT_REFUSALS + 1)
    })
    expect((await api(key).get('/v2/pods', undefined, from('203.0.113.9'))).status).toBe(200)
    expect((await api(unknownKey()).get('/v2/pods', undefined, from('203.0.113.10'))).status).toBe(401)
    expect(waits).toHaveLength(MANY - PROMPT_REFUSALS + 1)
  })

  it('of limits wait for the key that goes on, where no address is known', { timeout: TEST_MS }, async () => {
    const waits = noteWaits()
    const { key } = await createAccount()
    const other = await createAccount()
    const call = api(key)
    await inOneWindow(async () => {
      forgetRefusals()
      waits.length = 0
      // Endpoints that are not there: the first hundred are looked for.
      forgetVerdicts()
      const ask = () => Promise.all(Array.from({ length: MANY }, () => call.get(`/v2/${crypto.randomUUID().slice(0, 13)}/health`)))
      await ask()
      expect(new Set((await ask()).map(({ status }) => status))).toEqual(new Set([429]))
      expect(waits.length).toBeGreaterThan(0)
    })
    const before = waits.length
    expect((await call.get('/v2/pods')).status).toBe(200)
    expect((await api(other.key).get('/v2/nothing/health')).status).toBe(404)
    expect(waits).toHaveLength(before)
  })
})
