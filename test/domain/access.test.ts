import { hasScope, managesMembers, ROLES, SCOPES, scopesOf, scopesOfRole, scopesWithin } from '../../src/domain/access.ts'
import { formatApiKey, formatOperatorKey, isOperatorKey, parseApiKey } from '../../src/domain/key-text.ts'
import { describe, expect, it } from '../support/unit.ts'

const BYTES = Uint8Array.from({ length: 32 }, (_, index) => index * 7)
const KEY = formatApiKey('k3y1d00000', BYTES)

describe('key format', () => {
  it('[AUT-1] has prefix, 10-character id, 43 base62 digits and a 6-digit checksum', () => {
    expect(KEY).toMatch(/^pp_k3y1d00000_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/)
    expect(parseApiKey(KEY)).toEqual({ id: 'k3y1d00000', secret: KEY.slice(14, 57) })
  })

  it('[AUT-1] keeps its length for the smallest and the largest secret', () => {
    for (const byte of [0, 255]) expect(parseApiKey(formatApiKey('a'.repeat(10), new Uint8Array(32).fill(byte)))).not.toBeNull()
  })

  it('[AUT-1] any single changed character breaks the checksum', () => {
    for (let index = 0; index < KEY.length; index += 1) {
      const changed = KEY.slice(0, index) + (KEY[index] === 'x' ? 'y' : 'x') + KEY.slice(index + 1)
      expect(parseApiKey(changed), changed).toBeNull()
    }
  })

  it('[AUT-1] refuses other lengths, prefixes, empty text and surrounding space', () => {
    for (const text of ['', 'pp_', KEY.slice(0, -1), `${KEY}0`, KEY.replace('pp_', 'rpa_'), ` ${KEY}`, `${KEY}\n`]) {
      expect(parseApiKey(text), JSON.stringify(text)).toBeNull()
    }
  })

  it('[AUT-4a] an operator key has its own prefix and is no API key', () => {
    const key = formatOperatorKey(BYTES)
    expect(isOperatorKey(key)).toBe(true)
    expect(isOperatorKey(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBe(false)
    expect(parseApiKey(key)).toBeNull()
  })
})

describe('scopes', () => {
  it('[AUT-4] ALL is every scope, READ_ONLY every :read scope, RESTRICTED what is listed', () => {
    expect([...scopesOf('ALL', [])]).toEqual([...SCOPES])
    expect([...scopesOf('READ_ONLY', ['jobs:write'])].every((scope) => scope.endsWith(':read'))).toBe(true)
    expect(scopesOf('READ_ONLY', []).has('jobs:read')).toBe(true)
    expect([...scopesOf('RESTRICTED', ['jobs:write@abc'])]).toEqual(['jobs:write@abc'])
  })

  it('[AUT-3] a scope bound to an endpoint counts there and nowhere else', () => {
    const scopes = scopesOf('RESTRICTED', ['jobs:write@abc'])
    expect(hasScope(scopes, 'jobs:write', 'abc')).toBe(true)
    expect(hasScope(scopes, 'jobs:write', 'abd')).toBe(false)
    expect(hasScope(scopes, 'jobs:write')).toBe(false)
    expect(hasScope(scopes, 'jobs:read', 'abc')).toBe(false)
  })
})

describe('roles', () => {
  it('[ORG-3] OWNER and ADMIN do everything, DEV manages resources, BASIC reads and runs jobs, BILLING sees the bills', () => {
    const lacking = (role: (typeof ROLES)[number]) => SCOPES.filter((scope) => !scopesOfRole(role).has(scope))
    expect(Object.fromEntries(ROLES.map((role) => [role, lacking(role)]))).toEqual({
      OWNER: [],
      ADMIN: [],
      DEV: ['clusters:write', 'account:write', 'billing:read'],
      BASIC: [
        'pods:write',
        'clusters:write',
        'serverless:write',
        'templates:write',
        'volumes:write',
        'registries:read',
        'registries:write',
        'account:write',
        'billing:read',
      ],
      BILLING: SCOPES.filter((scope) => scope !== 'billing:read' && scope !== 'organizations:read'),
    })
    expect(ROLES.filter(managesMembers)).toEqual(['OWNER', 'ADMIN'])
  })

  it('[TEAM-2] a key grants what its maker may, whole or bound to one resource', () => {
    const key = new Set(['jobs:write@e1', 'pods:write', 'pods:read'])
    expect([...scopesWithin(key, 'OWNER')]).toEqual([...key])
    expect([...scopesWithin(key, 'BASIC')]).toEqual(['jobs:write@e1', 'pods:read'])
    expect([...scopesWithin(key, 'BILLING')]).toEqual([])
  })
})
