import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { buildSchema, specifiedRules, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { GRAPHQL_SCHEMA } from '../../../src/contract/graphql/schema.ts'
import { boundedCost } from '../../../src/http/graphql/guards/cost.ts'
import { readDocument } from '../../../src/http/graphql/guards/document.ts'
import { shapeErrors } from '../../support/http/graphql-schema/shape.ts'

// Documents of published clients, each as it is sent over the wire.

const FOLDER = join(import.meta.dirname, '../../worker/graphql/documents')
const DOCUMENTS = globSync('*/*.graphql', { cwd: FOLDER })
  .toSorted()
  .map((path) => [`${dirname(path)} ${basename(path, '.graphql')}`, readFileSync(join(FOLDER, path), 'utf8')] as const)
/** An environment variable with a quote in it makes this client write a document that no parser accepts. */
const BROKEN = 'python create-pod-with-all'

const schema = buildSchema(GRAPHQL_SCHEMA)

describe('[GQL-61] documents of published clients', () => {
  test.for(DOCUMENTS.filter(([name]) => name !== BROKEN))('%s is valid and within every limit', ([, text]) => {
    expect(validate(schema, readDocument(text), [...specifiedRules, boundedCost]).map(({ message }) => message)).toEqual([])
  })

  test(`[GQL-6] ${BROKEN} does not parse`, () => {
    expect(() => readDocument(DOCUMENTS.find(([name]) => name === BROKEN)?.[1] ?? '')).toThrow('Syntax Error')
  })
})

describe('[GQL-61] the shape of an answer', () => {
  const document = 'query { myself { id pods { id env gpuCount runtime { ports { PortType: type } } } } dataCenters { __typename listed } }'
  const pod = { id: 'p', env: ['A=1'], gpuCount: 1, runtime: { ports: [{ PortType: 'tcp' }] } }
  const answer = (changes: object = {}, dataCenter: object = { __typename: 'DataCenter', listed: true }) => {
    return { myself: { id: 'u', pods: [{ ...pod, ...changes }] }, dataCenters: [dataCenter] }
  }

  test('has the members that the document selects, each of its kind', () => {
    expect(shapeErrors(document, answer())).toEqual([])
    expect(shapeErrors(document, answer({ env: null, runtime: null }))).toEqual([])
  })

  test.for([
    [answer({ id: null }), '$.myself.pods[0].id: null'],
    [answer({ id: undefined }), '$.myself.pods[0].id: no String'],
    [answer({ env: 'A=1' }), '$.myself.pods[0].env: no list'],
    [answer({ gpuCount: 1.5 }), '$.myself.pods[0].gpuCount: no Int'],
    [answer({ name: 'n' }), '$.myself.pods[0].name: not asked for'],
    [answer({ runtime: { ports: [{ type: 'tcp' }] } }), '$.myself.pods[0].runtime.ports[0].PortType: missing'],
    [answer({}, { __typename: 'Pod', listed: 1 }), '$.dataCenters[0].__typename: no DataCenter'],
  ] as const)('%j is not that shape', ([data, error]) => {
    expect(shapeErrors(document, data)).toContain(error)
  })
})
