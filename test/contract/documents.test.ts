import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { adminApi, adminDocument } from '../../src/http/admin-api.ts'
import { restApi, restDocument } from '../../src/http/rest-api.ts'
import { describe, expect, it } from '../support/unit.ts'

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8'))
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

interface Operation {
  operationId?: string
  security?: unknown[]
  'x-scope'?: string
  requestBody?: { required?: boolean }
  responses: Record<string, unknown>
}
const operationsOf = (document: { paths?: object }): [string, Operation][] =>
  Object.entries(plain(document.paths) as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )

describe('documents', () => {
  it('[CFG-3] the committed document is the generated one; run `npm run generate` when this fails', () => {
    expect(plain(restDocument())).toEqual(read('openapi-v2.json'))
    expect(plain(adminDocument())).toEqual(read('openapi-admin-v1.json'))
  })

  it('every operation has an id of its own, the bearer scheme, and a required body if any', () => {
    for (const document of [restDocument(), adminDocument()]) {
      const operations = operationsOf(document)
      const ids = operations.map(([, operation]) => operation.operationId)
      expect(new Set(ids).size).toBe(ids.length)
      for (const [name, operation] of operations) {
        expect(operation.operationId, name).toBeTruthy()
        expect(operation.security, name).toEqual([{ bearerAuth: [] }])
        expect(operation.responses, name).toHaveProperty('401')
        if (operation.requestBody) expect(operation.requestBody.required, name).toBe(true)
      }
    }
  })

  it('every operation of the public document names its scope', () => {
    for (const [name, operation] of operationsOf(restDocument())) expect(operation['x-scope'], name).toMatch(/^[a-z]+:(read|write)$/)
  })

  it('[PAG-4][PAG-5] lists that grow are cut into pages, the others are whole', () => {
    const { components } = plain(restDocument()) as { components: { schemas: Record<string, { properties?: Record<string, object> }> } }
    const lists = operationsOf(restDocument()).flatMap(([name, { responses }]) => {
      const ref = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(responses['200'] ?? ''))?.[1] ?? ''
      const members = Object.keys(components.schemas[ref]?.properties ?? {})
      return ref.startsWith('List') ? [`${name.split(' ')[1]}: ${members.includes('pagination') ? 'pages' : 'whole'}`] : []
    })
    expect(lists.toSorted()).toEqual([
      '/v2/global-volumes: whole',
      '/v2/network-volumes: whole',
      '/v2/pods: pages',
      '/v2/registries: whole',
      '/v2/serverless/{id}/builds: pages',
      '/v2/serverless/{id}/releases: pages',
      '/v2/serverless/{id}/scaling: whole',
      '/v2/serverless/{id}/workers: whole',
      '/v2/serverless: pages',
      '/v2/templates: pages',
      '/v2/webhooks/deliveries: pages',
    ])
  })

  it('[CFG-1] names no host: every server is relative', () => {
    expect(restDocument().servers).toEqual([{ url: '/' }])
    expect(adminDocument().servers).toEqual([{ url: '/' }])
  })

  it('every `$ref` points at something', () => {
    for (const document of [plain(restDocument()), plain(adminDocument())]) {
      for (const [, ref] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
        const target = (ref ?? '').split('/').reduce((at, key) => at?.[key], document)
        expect(target, ref).toBeDefined()
      }
    }
  })
})

describe('inventory', () => {
  /** Served without being in a document of their own kind. */
  const UNDOCUMENTED = new Set(['GET /v2/openapi.json', 'GET /admin/v1/openapi.json'])

  for (const [name, app] of [
    ['rest', restApi()],
    ['admin', adminApi()],
  ] as const) {
    const documented = app.openAPIRegistry.definitions.flatMap((definition) =>
      definition.type === 'route'
        ? [`${definition.route.method.toUpperCase()} ${definition.route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`]
        : [],
    )
    const served = new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))

    it(`every documented ${name} route is implemented`, () => {
      for (const route of documented) expect(served.has(route), route).toBe(true)
    })

    it(`every ${name} route is documented`, () => {
      for (const route of served) expect(documented.includes(route) || UNDOCUMENTED.has(route), route).toBe(true)
    })
  }
})
