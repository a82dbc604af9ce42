import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kind, parse, visit } from 'graphql'
import { GRAPHQL_SCHEMA } from '../../../src/contract/graphql/schema.ts'
import { adminApi, adminDocument } from '../../../src/http/admin-api.ts'
import { consoleDocument } from '../../../src/http/console/console-api.ts'
import { restApi, restDocument } from '../../../src/http/rest-api.ts'
import { describe, expect, it } from '../../support/unit.ts'

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs', file), 'utf8'))
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
    expect(plain(consoleDocument())).toEqual(read('openapi-console.json'))
  })

  it('[GQL-12] the committed GraphQL schema is the one that is served; run `npm run generate` when this fails', () => {
    expect(GRAPHQL_SCHEMA).toBe(readFileSync(join(import.meta.dirname, '../../../docs/schema.graphql'), 'utf8'))
  })

  it('[GQL-12] every input and argument of it may be null or left out: clients fill them from nullable variables', () => {
    const required: string[] = []
    visit(parse(GRAPHQL_SCHEMA), {
      DirectiveDefinition: () => false,
      InputValueDefinition: ({ name, type }) => {
        if (type.kind === Kind.NON_NULL_TYPE) required.push(name.value)
      },
    })
    expect(required).toEqual([])
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

  it('[DOC-12] every operation documents a problem as an answer', () => {
    for (const document of [restDocument(), adminDocument(), consoleDocument()]) {
      for (const [name, { responses }] of operationsOf(document)) expect(responses, name).toHaveProperty('default')
    }
  })

  it('[DEV-6] every operation has a summary and one tag', () => {
    for (const [name, operation] of [restDocument(), adminDocument(), consoleDocument()].flatMap(operationsOf)) {
      expect(operation, name).toMatchObject({ summary: expect.any(String), tags: [expect.any(String)] })
    }
  })

  it('every operation of the public document names its scope', () => {
    for (const [name, operation] of operationsOf(restDocument())) expect(operation['x-scope'], name).toMatch(/^([a-z]+:(read|write)|none)$/)
  })

  it('[PAG-4][PAG-5][PAG-6] lists that grow are cut into pages, the others are whole', () => {
    const { components } = plain(restDocument()) as { components: { schemas: Record<string, { properties?: Record<string, object> }> } }
    const lists = operationsOf(restDocument()).flatMap(([name, { responses }]) => {
      const ref = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(responses['200'] ?? ''))?.[1] ?? ''
      const members = Object.keys(components.schemas[ref]?.properties ?? {})
      return ref.startsWith('List') ? [`${name.split(' ')[1]}: ${members.includes('pagination') ? 'pages' : 'whole'}`] : []
    })
    expect(lists.toSorted()).toEqual([
      '/v2/account/audit: pages',
      '/v2/account/keys: whole',
      '/v2/account/secrets: whole',
      '/v2/billing/clusters: whole',
      '/v2/billing/endpoints: whole',
      '/v2/billing/network-volumes: whole',
      '/v2/billing/pods: whole',
      '/v2/billing/serverless: whole',
      '/v2/billing: whole',
      '/v2/catalog/cpus: whole',
      '/v2/catalog/datacenters: whole',
      '/v2/catalog/gpus: whole',
      '/v2/catalog/templates: pages',
      '/v2/clusters: whole',
      '/v2/events: pages',
      '/v2/global-volumes: whole',
      '/v2/network-volumes: whole',
      '/v2/organizations/{id}/invitations: whole',
      '/v2/organizations: whole',
      '/v2/pods: pages',
      '/v2/registries/delegations: whole',
      '/v2/registries: whole',
      '/v2/serverless/{id}/builds: pages',
      '/v2/serverless/{id}/releases: pages',
      '/v2/serverless/{id}/scaling: whole',
      '/v2/serverless/{id}/workers: whole',
      '/v2/serverless: pages',
      '/v2/spend/stops: whole',
      '/v2/templates: pages',
      '/v2/webhooks/deliveries: pages',
    ])
  })

  it('[CFG-1] names no host: every server is relative', () => {
    expect(restDocument().servers).toEqual([{ url: '/' }])
    expect(adminDocument().servers).toEqual([{ url: '/' }])
  })

  it('every `$ref` points at something', () => {
    for (const document of [plain(restDocument()), plain(adminDocument()), plain(consoleDocument())]) {
      for (const [, ref] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
        const target = (ref ?? '').split('/').reduce((at, key) => at?.[key], document)
        expect(target, ref).toBeDefined()
      }
    }
  })
})

describe('generators of Java and Go', () => {
  const schemasIn = (value: unknown): Record<string, unknown>[] =>
    typeof value !== 'object' || value === null
      ? []
      : [
          value as Record<string, unknown>,
          ...Object.entries(value).flatMap(([key, member]) => (key === 'example' ? [] : schemasIn(member))),
        ]
  const documents = () => [restDocument(), adminDocument(), consoleDocument()].map(plain)

  it('[DOC-1] meet no default beside a choice, none that is an object, and no boolean of fixed values', () => {
    const [rest, admin] = documents()
    const wrong = [...schemasIn(rest), ...schemasIn(admin)].filter(
      ({ anyOf, oneOf, type, enum: values, default: own }) =>
        ((anyOf ?? oneOf) !== undefined && own !== undefined) ||
        (own !== null && typeof own === 'object' && !Array.isArray(own) && !('description' in own)) ||
        (type === 'boolean' && values !== undefined),
    )
    expect(wrong).toEqual([])
  })

  it('[DOC-2] get another name where oapi-codegen would use the name of one of its own types', () => {
    for (const document of documents()) {
      const wrappers = operationsOf(document).map(
        ([, { operationId = '' }]) => `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Response`,
      )
      const colliding = Object.entries<{ 'x-go-name'?: string }>(document.components.schemas).filter(([name]) => wrappers.includes(name))
      for (const [name, schema] of colliding) expect(schema['x-go-name'], name).toBe(name.replace(/Response$/, 'Result'))
    }
  })

  it('[DOC-3] read a 201 by the schema of the 200 of the same operation', () => {
    for (const [name, { responses }] of operationsOf(restDocument())) {
      const made = /"\$ref":"([^"]+)"/.exec(JSON.stringify((responses['201'] as { content?: unknown } | undefined)?.content ?? ''))?.[1]
      const planned = /schemas\/(\w+)"/.exec(JSON.stringify((responses['200'] as { content?: unknown } | undefined)?.content ?? ''))?.[1]
      if (made === undefined || planned === undefined) continue
      const schemas = plain(restDocument()).components.schemas
      expect(JSON.stringify(schemas[planned]?.anyOf ?? []), name).toContain(made)
    }
  })
})

describe('[DOC-10] requirements of client generators', () => {
  interface Schema {
    type?: string | string[]
    format?: string
    minimum?: number
    maximum?: number
    description?: string
    default?: unknown
    properties?: Record<string, Schema>
    items?: Schema
  }
  const pascal = (name: string) => name.replaceAll(/(?:^|[^A-Za-z0-9])([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const rest = plain(restDocument())
  const admin = plain(adminDocument())
  const schemas: Record<string, Schema> = rest.components.schemas

  /** Every inline schema, with the name that a generator gives it: the name of its parent and its own. */
  function* written(schema: Schema, name: string): Generator<[string, Schema]> {
    yield [name, schema]
    for (const [key, member] of Object.entries(schema.properties ?? {})) yield* written(member, name + pascal(key))
    if (schema.items) yield* written(schema.items, `${name}Item`)
  }
  const all = (document: { components: { schemas: Record<string, Schema> } }) =>
    Object.entries(document.components.schemas).flatMap(([name, schema]) => [...written(schema, name)])

  it('no inline schema gets the name of a component', () => {
    for (const document of [rest, admin]) {
      const inPlace = all(document).filter(([name, schema]) => schema.properties && document.components.schemas[name] !== schema)
      for (const [name] of inPlace) expect(Object.keys(document.components.schemas)).not.toContain(name)
    }
  })

  it('a component is referred to, with the description of the place', () => {
    expect(schemas.Pod?.properties?.gpu).toEqual({ $ref: '#/components/schemas/PodGpu', description: 'Only on GPU pods.' })
    expect(schemas.CreatePodRequest?.properties?.cloud).toEqual({ $ref: '#/components/schemas/CloudType', default: 'SECURE' })
    expect(JSON.stringify([rest, admin])).not.toContain('x-component')
  })

  it('both answers of createPod have a type of their own', () => {
    const { responses } = rest.paths['/v2/pods'].post
    expect(responses[200].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/PodOrPlacementPreview' })
    expect(responses[201].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Pod' })
  })

  it('a URL that holds `{job_id}` is a template of one', () => {
    const urls = Object.entries(schemas.QueueBasedRequestUrls?.properties ?? {}).map(([name, { format }]) => [name, format])
    const template = ['status', 'stream', 'cancel', 'retry']
    expect(urls).toEqual(urls.map(([name]) => [name, template.includes(String(name)) ? 'uri-template' : 'uri']))
  })

  it('[GEN-6] the names of `env` have a pattern', () => {
    for (const name of ['CreatePodRequest', 'UpdatePodRequest', 'CreateEndpointRequest', 'CreateTemplateRequest']) {
      expect(schemas[name]?.properties?.env, name).toMatchObject({ propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$' } })
    }
  })

  it('[REST-30] every whole number says how wide it is, and one of a request has both bounds', () => {
    for (const document of [rest, admin]) {
      for (const [name, schema] of all(document)) {
        if (![schema.type].flat().includes('integer')) continue
        const narrow = schema.minimum !== undefined && schema.maximum !== undefined && schema.maximum < 2 ** 31
        expect(schema.format, name).toBe(narrow ? 'int32' : 'int64')
        if (/^(Create|Update|Pod.*Request|.*Scaling$|JobPolicy)/.test(name)) expect(schema.format, name).toBe('int32')
      }
    }
  })

  it('an optional member of a request has its default, unless a template or another member decides it', () => {
    const defaults = all(rest)
      .concat(all(admin))
      .filter(([, schema]) => schema.default !== undefined)
    const received = Object.fromEntries(defaults.map(([name, schema]) => [name, schema.default]))
    expect(received).toEqual({
      CreateClusterRequestOnHostLoss: 'WAIT',
      CreateClusterRequestStartJupyter: false,
      CreateClusterRequestStartSsh: false,
      CreateEndpointGpuConfigCount: 1,
      CreateEndpointRequestCloud: 'SECURE',
      CreateEndpointRequestFlashboot: 'OFF',
      CreateEndpointRequestTimeout: 600_000,
      CreateEndpointRequestType: 'QUEUE',
      CreateEndpointWorkersMax: 3,
      CreateEndpointWorkersMin: 0,
      CreateInvitationRequestExpiresInDays: 7,
      CreateJoinTokenRequestCloud: 'SECURE',
      CreateJoinTokenRequestDataCenterId: 'LOCAL-1',
      CreateKeyRequestPermission: 'ALL',
      CreatePodRequestCloud: 'SECURE',
      CreatePodRequestGlobalNetworking: false,
      CreatePodRequestOnHostLoss: 'WAIT',
      CreateResultRetentionRun: 1_800_000,
      CreateResultRetentionRunSync: 60_000,
      CreateSignInLinkRequestIsOperator: false,
      CreateTemplateRequestCategory: 'NVIDIA',
      CreateTemplateRequestDisk: 10,
      CreateTemplateRequestPublic: false,
      CreateTemplateRequestServerless: false,
      CreateTemplateRequestStartJupyter: true,
      CreateTemplateRequestStartSsh: true,
      JobPolicyLowPriority: false,
      JobPolicyTtl: 86_400_000,
      PodGpuRequestCount: 1,
      RotateKeyRequestOverlapSeconds: 86_400,
    })
    for (const [name, { description }] of all(rest).concat(all(admin))) expect(description ?? '', name).not.toContain('by default')
  })
})

describe('inventory', () => {
  /** Routes that are served without an entry in a document. */
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
