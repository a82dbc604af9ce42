import { retirementHeaders, successorOf } from '../../../src/domain/v1/successors.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('successors of v1 routes', () => {
  it.each([
    ['/v1/pods', '/v2/pods'],
    ['/v1/pods/', '/v2/pods'],
    ['/v1/pods/qqz8943y0ezgx8', '/v2/pods/qqz8943y0ezgx8'],
    ['/v1/pods/p1/start', '/v2/pods/p1/action'],
    ['/v1/pods/p1/stop', '/v2/pods/p1/action'],
    ['/v1/pods/p1/restart', '/v2/pods/p1/action'],
    ['/v1/pods/p1/reset', '/v2/pods/p1/action'],
    ['/v1/pods/p1/update', '/v2/pods/p1'],
    ['/v1/endpoints', '/v2/serverless'],
    ['/v1/endpoints/e1', '/v2/serverless/e1'],
    ['/v1/endpoints/e1/update', '/v2/serverless/e1'],
    ['/v1/templates', '/v2/templates'],
    ['/v1/templates/t1', '/v2/templates/t1'],
    ['/v1/networkvolumes', '/v2/network-volumes'],
    ['/v1/networkvolumes/v1', '/v2/network-volumes/v1'],
    ['/v1/containerregistryauth', '/v2/registries'],
    ['/v1/containerregistryauth/r1', '/v2/registries/r1'],
    ['/v1/billing/pods', '/v2/billing/pods'],
    ['/v1/billing/endpoints', '/v2/billing/serverless'],
    ['/v1/billing/networkvolumes', '/v2/billing/network-volumes'],
    ['/v1', '/v2/openapi.json'],
    ['/v1/openapi.json', '/v2/openapi.json'],
    ['/v1/pods/a/b/c', '/v2/openapi.json'],
    ['/v1/pods/<script>', '/v2/openapi.json'],
    ['/v1/pods/a%0d%0aX:%20y', '/v2/openapi.json'],
  ])('[LEG-1] %s: %s', (path, successor) => expect(successorOf(path)).toBe(successor))

  it('[LEG-3] are announced with the dates', () => {
    expect(retirementHeaders('/v1/pods')).toEqual({
      Deprecation: '@1794700800',
      Sunset: 'Sun, 15 Nov 2026 00:00:00 GMT',
      Link: '</v2/pods>; rel="successor-version"',
    })
  })
})
