import { parseSessionSettings } from '../../../src/domain/session/settings.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NAMED = { OIDC_ISSUER: 'https://id.example.com', OIDC_AUDIENCE: 'console' }
const READ = {
  issuer: 'https://id.example.com',
  audiences: ['console'],
  jwksUrl: null,
  algorithms: ['RS256', 'ES256'],
  emailDomains: null,
}

describe('[OIDC-1] the provider of sessions', () => {
  it.each([[{}], [{ OIDC_ISSUER: '' }], [{ OIDC_AUDIENCE: 'console' }]])('%j names none', (vars) => {
    expect(parseSessionSettings(vars)).toBeNull()
  })

  it.each([
    [{}, {}],
    [{ OIDC_AUDIENCE: ' a , b,' }, { audiences: ['a', 'b'] }],
    [{ OIDC_ISSUER: ' https://id.example.com/ ' }, { issuer: 'https://id.example.com/' }],
    [{ OIDC_ISSUER: 'http://localhost:9000' }, { issuer: 'http://localhost:9000' }],
    [{ OIDC_JWKS_URL: 'https://id.example.com/keys' }, { jwksUrl: 'https://id.example.com/keys' }],
    [{ OIDC_ALGORITHMS: 'EdDSA' }, { algorithms: ['EdDSA'] }],
    [{ OIDC_EMAIL_DOMAINS: '@Corp.example, lab.example' }, { emailDomains: ['corp.example', 'lab.example'] }],
  ])('%j changes %j', (vars, changes) => {
    expect(parseSessionSettings({ ...NAMED, ...vars })).toEqual({ ...READ, ...changes })
  })

  it.each([
    [{ OIDC_ISSUER: 'id.example.com' }, 'OIDC_ISSUER is no https:// address'],
    [{ OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER is no https:// address'],
    [{ OIDC_ISSUER: 'http://localhost.example.com' }, 'OIDC_ISSUER is no https:// address'],
    [{ OIDC_AUDIENCE: ' , ' }, 'OIDC_AUDIENCE is not set'],
    [{ OIDC_JWKS_URL: 'http://id.example.com/keys' }, 'OIDC_JWKS_URL is no https:// address'],
    [{ OIDC_ALGORITHMS: 'RS256,HS256,none' }, expect.stringMatching(/^OIDC_ALGORITHMS names HS256, none: /)],
    [{ OIDC_ALGORITHMS: 'rs256' }, expect.stringMatching(/^OIDC_ALGORITHMS names rs256: /)],
  ])('%j is a mistake: %s', (vars, fault) => {
    expect(parseSessionSettings({ ...NAMED, ...vars })).toEqual({ fault })
  })
})
