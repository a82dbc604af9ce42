import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { buildSchema, specifiedRules, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { GRAPHQL_SCHEMA } from '../../src/contract/graphql/schema.ts'
import { boundedCost } from '../../src/http/graphql/guards/cost.ts'
import { readDocument } from '../../src/http/graphql/guards/document.ts'

// What published clients send, each document as it goes over the wire.

const FOLDER = join(import.meta.dirname, '../worker/graphql/documents')
const DOCUMENTS = globSync('*/*.graphql', { cwd: FOLDER })
  .toSorted()
  .map((path) => [`${dirname(path)} ${basename(path, '.graphql')}`, readFileSync(join(FOLDER, path), 'utf8')] as const)
/** An environment variable with a quote in it makes this client write what no parser reads. */
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
