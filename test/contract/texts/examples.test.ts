import { z } from 'zod'
import { adminDocument } from '../../../src/http/admin-api.ts'
import { restDocument } from '../../../src/http/rest-api.ts'
import { describe, expect, it } from '../../support/unit.ts'

/** Loads every contract file, so that a new one is covered without being listed here. */
const modules = Object.values(import.meta.glob<Record<string, unknown>>('../../../src/contract/**/*.ts', { eager: true }))

const schemas = new Map<string, z.ZodType>()
for (const module of modules) {
  for (const value of Object.values(module)) {
    if (value instanceof z.ZodType) collect(value)
  }
}

/** Named schemas are in zod's registry; schemas nested in others are reached through it as well. */
function collect(schema: z.ZodType): void {
  const id = schema.meta()?.id
  if (id !== undefined) schemas.set(id, schema)
  if (schema instanceof z.ZodObject) for (const member of Object.values(schema.shape)) collect(member as z.ZodType)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) collect(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodArray) collect(schema.element as z.ZodType)
  if (schema instanceof z.ZodUnion) for (const option of schema.options) collect(option as z.ZodType)
}

describe('examples', () => {
  it('finds the named schemas', () => expect(schemas.size).toBeGreaterThan(25))

  it.each(['Pod', 'Template', 'NetworkVolume', 'GlobalVolume', 'Registry', 'SshKeys'])('%s has one', (id) =>
    expect(schemas.get(id)?.meta()?.example).toBeDefined(),
  )

  for (const [id, schema] of schemas) {
    const example = schema.meta()?.example
    if (example !== undefined) it(`${id} parses its own example`, () => expect(() => schema.parse(example)).not.toThrow())
  }
})

interface Schema {
  $ref?: string
  example?: unknown
  examples?: unknown
}
interface Content {
  content?: Record<string, { schema?: Schema; example?: unknown; examples?: unknown }>
}

/** Names of the request bodies and success answers that have no example. */
function withoutExample(document: object): string[] {
  // As plain JSON, as a reader of the document gets it.
  const { paths, components } = JSON.parse(JSON.stringify(document)) as {
    paths: Record<string, Record<string, { requestBody?: Content; responses: Record<string, Content> }>>
    components: { schemas: Record<string, Schema> }
  }
  const isShown = (schema: Schema = {}): boolean => {
    if ('example' in schema || 'examples' in schema) return true
    const name = schema.$ref?.split('/').at(-1)
    return name !== undefined && isShown(components.schemas[name])
  }
  const missing = (where: string, { content = {} }: Content) =>
    Object.entries(content)
      .filter(([, media]) => !('example' in media || 'examples' in media || isShown(media.schema)))
      .map(([type]) => `${where} ${type}`)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody = {}, responses }]) => [
      ...missing(`${method} ${path} body`, requestBody),
      ...Object.entries(responses).flatMap(([status, answer]) => (status < '300' ? missing(`${method} ${path} ${status}`, answer) : [])),
    ]),
  )
}

describe('[DOC-15] an example of every body and every success', () => {
  it.each([
    ['REST', restDocument()],
    ['operator', adminDocument()],
  ])('stands in the %s document', (_name, document) => expect(withoutExample(document)).toEqual([]))

  it('is required: a schema without one is named', () => {
    const bare = { schema: { $ref: '#/components/schemas/Bare' } }
    const shown = { schema: { $ref: '#/components/schemas/Shown' } }
    const content = { 'application/json': bare }
    const operation = { requestBody: { content }, responses: { '200': { content: { 'application/json': shown } }, '404': { content } } }
    const schemas = { Bare: {}, Shown: { example: 1 } }
    expect(withoutExample({ paths: { '/a': { post: operation } }, components: { schemas } })).toEqual(['post /a body application/json'])
  })
})
