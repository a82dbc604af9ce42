import { DrizzleQueryError } from 'drizzle-orm'
import { logEvent, redact, setLogLevel } from '../../src/platform/log.ts'
import { afterEach, describe, expect, it, vi } from '../support/unit.ts'

afterEach(() => {
  vi.restoreAllMocks()
  setLogLevel('info')
})

describe('redaction', () => {
  const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2ln'
  const cases: [string, string][] = [
    ['key pp_k3y1d00000_abcDEF', 'key pp_[redacted]'],
    ['ppo_secret ppw_worker ppj_join', 'ppo_[redacted] ppw_[redacted] ppj_[redacted]'],
    ['Authorization: Bearer some.token-here', 'Authorization: Bearer [redacted]'],
    [`token ${JWT}`, 'token [redacted jwt]'],
    ['/graphql?api_key=abc123&x=1', '/graphql?api_key=[redacted]&x=1'],
    ['nothing to hide', 'nothing to hide'],
  ]
  for (const [text, clean] of cases) it(text.slice(0, 24), () => expect(redact(text)).toBe(clean))
})

describe('lines', () => {
  it('are one JSON object each, redacted, and none below the level', () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => undefined)
    const debug = vi.spyOn(console, 'debug').mockImplementation(() => undefined)
    logEvent('debug', 'quiet')
    logEvent('info', 'request', { path: '/x?api_key=abc', error: new Error('with pp_k3y_secret'), absent: undefined })
    expect(debug).not.toHaveBeenCalled()
    expect(info).toHaveBeenCalledOnce()
    const line = String(info.mock.calls[0]?.[0])
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: 'request', path: '/x?api_key=[redacted]' })
    expect(line).toContain('pp_[redacted]')
    expect(line).not.toContain('k3y_secret')
  })

  it('[EDG-21] name the cause of a failed statement, and none of its parameters', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const cause = new Error('UNIQUE constraint failed: pods.id')
    const failed = new DrizzleQueryError('insert into "pods" values (?)', ['what a tenant sent'], cause)
    logEvent('error', 'request failed', { error: failed })
    logEvent('error', 'request failed', { error: new Error('not stored', { cause: failed }) })
    for (const [line] of written.mock.calls) {
      expect(line).toContain('UNIQUE constraint failed: pods.id')
      expect(line).toContain('insert into')
      expect(line).not.toContain('what a tenant sent')
    }
    expect(written).toHaveBeenCalledTimes(2)
  })

  it('[EDG-21] name no parameters of a statement whose error became a text or a plain error', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const failed = new DrizzleQueryError('insert into "pods" values (?)', ['what a tenant\nsent'], new Error('why'))
    for (const error of [new Error(failed.message), new Error(`not stored: ${failed}`), new Error('not stored', { cause: failed.message })])
      logEvent('error', 'request failed', { error })
    for (const [line] of written.mock.calls) {
      expect(line).toContain('insert into')
      expect(line).not.toMatch(/what a tenant|sent/)
    }
    expect(written).toHaveBeenCalledTimes(3)
  })

  it('end for an error that is its own cause', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const error = new Error('in a circle')
    error.cause = error
    logEvent('error', 'request failed', { error })
    expect(String(written.mock.calls[0]?.[0])).toContain('in a circle')
  })
})
