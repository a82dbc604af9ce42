import { afterAll, beforeAll, inject, it } from 'vitest'
import type { PlayedEndpoint } from './endpoint.ts'
import { type EndpointOptions, Tenant } from './tenant.ts'

export { expect } from 'vitest'

let opened: Tenant | undefined

beforeAll(async () => {
  opened = await Tenant.open(inject('target'))
})
afterAll(async () => {
  await opened?.close()
})

/** One test against an endpoint of its own, beside the other scenarios of its file. */
export function scenario(title: string, options: EndpointOptions, run: (endpoint: PlayedEndpoint, tenant: Tenant) => Promise<void>): void {
  it.concurrent(title, async () => {
    if (opened === undefined) throw new Error('the account of this file could not be opened')
    const endpoint = await opened.openEndpoint(options)
    try {
      await run(endpoint, opened)
    } finally {
      await opened.removeEndpoint(endpoint.id)
    }
  })
}
