import { describe, expect, it } from 'vitest'
import { JOB_ROUTES } from '../../../src/contract/jobs/job-routes.ts'
import { parseRelayRoute } from '../../../src/host-agent/relay/routes.ts'

// The version of an agent may differ from its plane's, so it has its own list of worker routes; both must be equal.
describe('[WRK-3] routes of the relay', () => {
  it.each(Object.entries(JOB_ROUTES))('%s passes exactly when it is a worker’s, by the method that the plane takes', (operation, route) => {
    const known = (method: string) => parseRelayRoute(method, `/v2/endpoint/${operation}/worker/job`) !== undefined
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(known)
    expect(methods).toEqual(route.caller === 'worker' ? route.methods : [])
  })
})
