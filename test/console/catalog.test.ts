import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { CATALOG_FIELDS, entryOf, fieldsOf, keyOf, textsOf, valueText } from '../../src/console/pages/operator/catalog/fields.ts'
import { PutCatalogCpu, PutCatalogDataCenter, PutCatalogGpu, PutCatalogStorage } from '../../src/contract/catalog/entries.ts'

const SCHEMAS = { gpus: PutCatalogGpu, cpus: PutCatalogCpu, datacenters: PutCatalogDataCenter, storage: PutCatalogStorage }
const KINDS = Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[]

/** The members that an entry can have, including nested ones. */
function membersOf(schema: z.ZodType, path: string[] = []): string[] {
  const inner = 'unwrap' in schema ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema
  if (inner !== schema) return membersOf(inner, path)
  if (!('shape' in schema)) return [path.join('.')]
  return Object.entries((schema as z.ZodObject).shape).flatMap(([name, member]) => membersOf(member as z.ZodType, [...path, name]))
}

describe('[UI-74] an entry of the catalog as the operator types it', () => {
  it.each(KINDS)('%s: every member has a field', (kind) => {
    expect(CATALOG_FIELDS[kind].map(keyOf).toSorted()).toEqual(membersOf(SCHEMAS[kind]).toSorted())
  })

  it('comes back as it was, and an empty field keeps the seeded value', () => {
    const entry = { securePrice: 0.5, communityPrice: null, offered: false, pool: null, maxCount: 4, memoryGb: 24 }
    const texts = textsOf(CATALOG_FIELDS.gpus, entry)
    expect([texts['price.secure'], texts['price.community'], texts['price.serverless'], texts.offered, texts.pool]).toEqual([
      '0.5',
      'not sold',
      '',
      'no',
      'none',
    ])
    const body = { price: { secure: 0.5, community: null }, offered: false, pool: null, maxCount: 4, memory: 24 }
    expect(entryOf(CATALOG_FIELDS.gpus, texts)).toEqual({ body, wrong: [] })
    expect(entryOf(CATALOG_FIELDS.gpus, {})).toEqual({ body: {}, wrong: [] })
    const center = { networkVolumeTypes: ['STANDARD', 'HIGH_PERFORMANCE'], compliance: [], country: 'DE', globalNetwork: true }
    expect(entryOf(CATALOG_FIELDS.datacenters, textsOf(CATALOG_FIELDS.datacenters, center)).body).toEqual(center)
  })

  it('names the fields that cannot be read', () => {
    const texts = { 'price.secure': 'cheap', 'price.community': '-1', maxCount: 'none', offered: 'perhaps' }
    expect(entryOf(CATALOG_FIELDS.gpus, texts).wrong.toSorted()).toEqual(['maxCount', 'offered', 'price.community', 'price.secure'])
  })

  it('shows the values in force, and of storage only the prices that exist', () => {
    const disk = { inForce: { running: 0.1, stopped: 0.2 } }
    expect(fieldsOf('storage', disk).map((field) => [keyOf(field), valueText(field, field.inForce(disk.inForce))])).toEqual([
      ['running', '0.1'],
      ['stopped', '0.2'],
    ])
    expect(
      CATALOG_FIELDS.gpus.slice(0, 3).map((field) => valueText(field, field.inForce({ securePrice: 0.4, communityPrice: null }))),
    ).toEqual(['0.4', 'not sold', 'not sold'])
  })
})
