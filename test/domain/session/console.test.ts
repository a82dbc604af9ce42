import { headersForClient, headersForWorker } from '../../../src/domain/balancer/headers.ts'
import {
  cookieName,
  cookieValue,
  isOwnCookie,
  notByOwnPage,
  type Origin,
  returnPath,
  withoutOwnCookies,
} from '../../../src/domain/session/console.ts'
import { describe, expect, it } from '../../support/unit.ts'

const PAGE: Origin = {
  method: 'POST',
  isSocket: false,
  requestedWith: 'podplane',
  fetchSite: 'same-origin',
  origin: 'https://plane.test',
  host: 'plane.test',
}

describe('the origin of a request with a cookie', () => {
  it.each([
    [{}],
    [{ fetchSite: null }],
    [{ fetchSite: null, origin: null }],
    [{ method: 'GET', requestedWith: null, origin: null }],
    [{ method: 'HEAD', requestedWith: null, origin: null }],
    [{ method: 'GET', requestedWith: null, fetchSite: 'none', origin: null }],
    [{ method: 'GET', requestedWith: null, isSocket: true, fetchSite: null }],
    // A proxy ends TLS before the plane.
    [{ origin: 'http://plane.test' }],
  ])('[SESSION-4] [SESSION-6] %j: a page of the plane', (changes) => expect(notByOwnPage({ ...PAGE, ...changes })).toBeNull())

  it.each([
    [{ requestedWith: null }, 'X-Requested-With: podplane'],
    [{ requestedWith: 'XMLHttpRequest' }, 'X-Requested-With: podplane'],
    [{ method: 'DELETE', requestedWith: null, fetchSite: null, origin: null }, 'X-Requested-With: podplane'],
    [{ fetchSite: 'cross-site' }, 'Sec-Fetch-Site'],
    [{ fetchSite: 'same-site' }, 'Sec-Fetch-Site'],
    [{ fetchSite: 'none' }, 'Sec-Fetch-Site'],
    [{ method: 'GET', fetchSite: 'cross-site' }, 'Sec-Fetch-Site'],
    [{ method: 'GET', fetchSite: 'none', isSocket: true }, 'Sec-Fetch-Site'],
    [{ fetchSite: null, origin: 'https://evil.test' }, 'Origin'],
    [{ fetchSite: null, origin: 'https://plane.test.evil.test' }, 'Origin'],
    [{ fetchSite: null, origin: 'https://plane.test:8443' }, 'Origin'],
    // A page in a sandbox, such as one of a pod below /proxy/.
    [{ fetchSite: null, origin: 'null' }, 'Origin'],
    [{ method: 'GET', isSocket: true, fetchSite: null, origin: null }, 'needs the header Origin'],
  ])('[SESSION-4] [SESSION-6] %j: none', (changes, words) => expect(notByOwnPage({ ...PAGE, ...changes })).toContain(words))
})

describe('cookies of the plane', () => {
  it('[SESSION-8] over https have a name that no other host can plant', () => {
    expect(cookieName('session', true)).toBe('__Host-podplane-session')
    expect(cookieName('session', false)).toBe('podplane-session')
    expect(cookieName('signIn', true)).toBe('__Host-podplane-sign-in')
  })

  it('[SESSION-8] are read when they come once', () => {
    expect(cookieValue('a=1; podplane-session=x=y ; b', 'podplane-session')).toBe('x=y')
    for (const header of [null, '', 'b=podplane-session', 'podplane-session', 'podplane-session=a; podplane-session=b']) {
      expect(cookieValue(header, 'podplane-session')).toBeNull()
    }
  })

  it('[SESSION-8] reach no workload, under a name of its own either, and are set by none', () => {
    expect(withoutOwnCookies('a=1; __Host-podplane-session=s; podplane-sign-in=x; b=2')).toBe('a=1; b=2')
    expect(withoutOwnCookies('podplane-session=s')).toBeNull()
    expect(isOwnCookie('my-podplane-session')).toBe(false)
    const facts = { host: 'p.test', protocol: 'https', requestId: 'r', clientAddress: null, isChunked: false }
    const given: [string, string][] = [['Cookie', 'a=1; __Host-podplane-session=secret; podplane-session=secret']]
    for (const prefix of [null, '/proxy/p/8080']) {
      expect(JSON.stringify(headersForWorker(given, { ...facts, prefix }))).not.toContain('secret')
    }
    expect(headersForWorker(given, { ...facts, prefix: null })).toContainEqual(['Cookie', 'a=1'])
    const answer: [string, string][] = [
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'podplane-session=planted; Domain=test'],
      ['set-cookie', ' __Host-Podplane-Session =planted'],
    ]
    expect(headersForClient(answer, true)).toEqual([['Set-Cookie', 'a=1']])
    expect(JSON.stringify(headersForClient(answer, false))).not.toMatch(/set-cookie/i)
  })
})

describe('the way back after signing in', () => {
  it.each([
    ['/console', '/console'],
    ['/console/pods?status=RUNNING#log', '/console/pods?status=RUNNING#log'],
    ['/console/a/../b', '/console/b'],
  ])('[SESSION-22] %j leads to %s', (asked, path) => expect(returnPath(asked)).toBe(path))

  it.each([
    null,
    '',
    'https://evil.test/console',
    '//evil.test/console',
    '/\\evil.test/console',
    '/console/../v2/pods',
    '/consoles',
    '/docs',
    'console',
    '/console/sign-in/start?return=/console',
    '/console/callback',
    'javascript:alert(1)',
    '/console\\@evil.test',
    'http://plane.invalid/console/x',
  ])('[SESSION-22] %j leads nowhere but to the console', (asked) => {
    const path = returnPath(asked)
    expect(['/console', '/console/@evil.test']).toContain(path)
  })
})
