import { type Env, readSettings } from '../../src/env.ts'
import { describe, expect, it } from '../support/unit.ts'

const SECRETS = { TOKEN_SECRET: 'a-token-secret-of-a-good-length', KEY_PEPPER: 'a-pepper-of-a-good-length' }
const settings = (vars: Partial<Env>) => readSettings({ ...SECRETS, ...vars } as Env)

describe('settings', () => {
  it('are read once for the bindings of an isolate', () => {
    const env = { ...SECRETS, PLACEMENT: 'spread' } as Env
    expect(readSettings(env)).toBe(readSettings(env))
    expect(readSettings({ ...env, PLACEMENT: 'pack' })).toMatchObject({ placementStrategy: 'pack' })
  })

  it.each([
    [{}, null],
    [{ SSH_HOST: '', SSH_PORT: '2222' }, null],
    [{ SSH_HOST: 'ssh.example.com' }, { host: 'ssh.example.com', port: 22 }],
    [
      { SSH_HOST: 'ssh.example.com', SSH_PORT: '2222' },
      { host: 'ssh.example.com', port: 2222 },
    ],
    [
      { SSH_HOST: 'ssh.example.com', SSH_PORT: '70000' },
      { host: 'ssh.example.com', port: 22 },
    ],
  ])('[NET-2] %j makes the SSH proxy %j', (vars, proxy) => {
    expect(settings(vars).sshProxy).toEqual(proxy)
  })

  it.each([
    ['1', true],
    ['0', false],
    ['true', false],
    ['', false],
    [undefined, false],
  ])('[LEG-4] V1_ADAPTER %j: %j', (text, served) => {
    expect(settings(text === undefined ? {} : { V1_ADAPTER: text }).v1Adapter).toBe(served)
  })

  it.each([
    ['1', true],
    ['0', false],
    [undefined, false],
  ])('[RATE-34] READ_REPLICAS %j: %j', (text, reads) => {
    expect(settings(text === undefined ? {} : { READ_REPLICAS: text }).hasReadReplicas).toBe(reads)
  })

  it('[GQL-19] [GQL-29] [GQL-31] of GraphQL: own names, no end and no editor, unless the operator says otherwise', () => {
    expect(settings({}).graphql).toEqual({ hasOwnPodNames: true, deprecatedAtMs: null, sunsetAtMs: null, hasEditor: false })
    const given = { GRAPHQL_UNIQUE_POD_NAMES: 'false', GRAPHQL_DEPRECATED_AT: '2026-11-15', GRAPHQL_SUNSET_AT: 'some day', GRAPHIQL: '1' }
    expect(settings(given).graphql).toEqual({
      hasOwnPodNames: false,
      deprecatedAtMs: Date.UTC(2026, 10, 15),
      sunsetAtMs: null,
      hasEditor: true,
    })
  })

  it.each([
    ['debug', 'debug'],
    ['error', 'error'],
    ['loud', 'info'],
    [undefined, 'info'],
  ])('LOG_LEVEL %j makes %s', (text, level) => {
    expect(settings(text === undefined ? {} : { LOG_LEVEL: text }).logLevel).toBe(level)
  })

  it.each([
    ['1', 64],
    ['2', 2],
    ['128', 128],
    ['129', 64],
    ['4.5', 64],
    ['', 64],
    [undefined, 64],
  ])('[HOOK-11] WEBHOOKS_PER_RECEIVER %j makes %i', (text, places) => {
    expect(settings(text === undefined ? {} : { WEBHOOKS_PER_RECEIVER: text }).webhooksPerReceiver).toBe(places)
  })

  it.each([
    [undefined, 80],
    ['', 80],
    [' ', 80],
    ['0', 0],
    ['12.9', 12],
    ['500', 500],
    ['-1', 80],
    ['plenty', 80],
  ])('[BIL-20] SPEND_LIMIT_USD_PER_HOUR %j makes %i', (text, usd) => {
    expect(settings(text === undefined ? {} : { SPEND_LIMIT_USD_PER_HOUR: text }).spendLimitMicrosPerHour).toBe(usd * 1_000_000)
  })
})
