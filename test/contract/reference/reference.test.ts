import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { restDocument } from '../../../src/http/rest-api.ts'
import { compareDocuments } from '../../support/openapi/compare.ts'
import type { OpenApi } from '../../support/openapi/document.ts'
import { describe, expect, it } from '../../support/unit.ts'
import { DELIBERATE } from './differences.ts'

const reference: OpenApi = JSON.parse(readFileSync(join(import.meta.dirname, 'openapi-v2.structure.json'), 'utf8'))
const spec = readFileSync(join(import.meta.dirname, '../../../docs/SPEC.md'), 'utf8')
const ours = (): OpenApi => JSON.parse(JSON.stringify(restDocument()))

describe('[DOC-11] the document and the published structure', () => {
  const comparison = compareDocuments(reference, ours())
  const listed = Object.keys(DELIBERATE)

  it('every path, method, parameter, answer, member, value and bound of the structure is in the document or in the table', () => {
    const found = [...comparison.differences].filter(([name]) => !listed.includes(name))
    expect(Object.fromEntries(found)).toEqual({})
    // The comparison is not empty: an empty one would find no difference either.
    expect(comparison.compared).toBeGreaterThan(2000)
  })

  it('every row of the table still differs, and names an existing rule', () => {
    expect(listed.filter((name) => !comparison.differences.has(name))).toEqual([])
    for (const rule of Object.values(DELIBERATE)) expect(spec).toContain(`| ${rule} |`)
  })
})

describe('the comparison', () => {
  const before = compareDocuments(reference, ours()).differences

  const PLANTED: Record<string, [expected: string, plant: (document: OpenApi) => void]> = {
    'a path': ['GET /v2/pods', ({ paths }) => delete paths['/v2/pods']],
    'a method': ['DELETE /v2/pods/{id}', ({ paths }) => delete paths['/v2/pods/{id}']?.delete],
    'a parameter': [
      'GET /v2/pods query includeClusterPods',
      ({ paths }) => {
        const list = paths['/v2/pods']?.get
        if (list) list.parameters = list.parameters?.filter(({ name }) => name !== 'includeClusterPods') ?? []
      },
    ],
    'a status': ['GET /v2/pods 403', ({ paths }) => delete paths['/v2/pods']?.get?.responses[403]],
    'a header': ['GET /v2/pods 200 header RateLimit', ({ paths }) => delete paths['/v2/pods']?.get?.responses[200]?.headers?.RateLimit],
    'a member': ['answer Pod.locked', ({ components }) => delete components.schemas.Pod?.properties?.locked],
    'a required member': ['answer Pod.cost: required', ({ components }) => discard(components.schemas.Pod?.required, 'cost')],
    'a value': ['answer PodStatus: value ERROR', ({ components }) => discard(components.schemas.PodStatus?.enum, 'ERROR')],
    'a type': [
      'answer Pod.cost: type',
      ({ components }) => Object.assign(components.schemas.Pod?.properties?.cost ?? {}, { type: 'string' }),
    ],
    'a bound': [
      'request PersistentMount.size: minimum',
      ({ components }) => Object.assign(components.schemas.PersistentMount?.properties?.size ?? {}, { minimum: 9 }),
    ],
    'a closed request': [
      'request UpdatePodRequest: closed',
      ({ components }) => delete components.schemas.UpdatePodRequest?.additionalProperties,
    ],
  }

  it.for(Object.entries(PLANTED))('notices that %s is missing', ([, [expected, plant]]) => {
    const document = ours()
    plant(document)
    const found = [...compareDocuments(reference, document).differences.keys()].filter((name) => !before.has(name))
    expect(found).toContain(expected)
  })
})

function discard<Value>(list: Value[] | undefined, value: Value): void {
  list?.splice(list.indexOf(value), 1)
}
