import { z } from 'zod'
import { describe, expect, it } from '../support/unit.ts'

/** Loads every contract file, so that a new one is covered without being listed here. */
const modules = Object.values(import.meta.glob<Record<string, unknown>>('../../src/contract/**/*.ts', { eager: true }))

const schemas = new Map<string, z.ZodType>()
for (const module of modules) {
  for (const value of Object.values(module)) {
    if (value instanceof z.ZodType) collect(value)
  }
}

/** Named schemas live in zod's registry; the ones nested in others are reached through it as well. */
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
