import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import { parseServedCall } from '../../../src/http/load-balancer/served-call.ts'
import { toEndpoint } from '../../../src/services/endpoints/endpoint-view.ts'
import { describe, expect, it } from '../../support/unit.ts'

const DOMAIN = 'lb.example.com'
const parse = (url: string, domain: string | null = DOMAIN) => parseServedCall(new URL(url), domain)

describe('[LB-2] the endpoint of a request', () => {
  it.each([
    ['https://abc123.lb.example.com/v1/chat?x=1', { endpointId: 'abc123', path: '/v1/chat?x=1', prefix: null }],
    ['https://ABC123.LB.example.com', { endpointId: 'abc123', path: '/', prefix: null }],
    // The whole origin is the endpoint's: no path of it is the plane's.
    ['https://abc123.lb.example.com/v2/pods', { endpointId: 'abc123', path: '/v2/pods', prefix: null }],
    ['https://abc123.lb.example.com/lb/other/x', { endpointId: 'abc123', path: '/lb/other/x', prefix: null }],
    ['https://plane.example.com/lb/abc123/x?y', { endpointId: 'abc123', path: '/x?y', prefix: '/lb/abc123' }],
    ['https://plane.example.com/lb/abc123', { endpointId: 'abc123', path: '/', prefix: '/lb/abc123' }],
  ])('%s', (url, call) => expect(parse(url)).toEqual(call))

  it.each([
    'https://lb.example.com/x',
    'https://evil-lb.example.com/x',
    'https://plane.example.com/v2/pods',
    'https://plane.example.com/lb/',
  ])('none: %s', (url) => expect(parse(url)).toBeNull())

  it('a host name counts only where the operator has named the domain', () => {
    expect(parse('https://abc123.lb.example.com/x', null)).toBeNull()
  })

  it('requestUrls name working addresses: the host name under a domain, the path without one', () => {
    const body = { name: 'n', image: 'i', type: 'LOAD_BALANCER' as const, gpu: { pools: ['ADA_24'] } }
    const made = createEndpointConfig(SEED_CATALOG, body, { id: 'abc123', teamId: 't' }, 0)
    if (!made.ok) throw new Error(JSON.stringify(made.problem))
    const urls = (lbDomain: string | null) =>
      toEndpoint(SEED_CATALOG, made.config, { serverlessUrl: 'https://plane.example.com', lbDomain }).requestUrls
    expect(urls(DOMAIN)).toEqual({ base: 'https://abc123.lb.example.com', health: 'https://abc123.lb.example.com/ping' })
    expect(urls(null)).toEqual({ base: 'https://plane.example.com/lb/abc123', health: 'https://plane.example.com/lb/abc123/ping' })
  })
})
