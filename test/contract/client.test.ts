import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { OPERATIONS } from '../../src/client/operations/operations.ts'
import { adminDocument } from '../../src/http/admin-api.ts'
import { restDocument } from '../../src/http/rest-api.ts'
import { describe, expect, it } from '../support/unit.ts'

// When one of these fails: every operation of the documents has a row in src/client/operations, with the names of its schemas.

interface Media {
  schema?: { $ref?: string }
}
interface Operation {
  operationId: string
  parameters?: { name?: string; $ref?: string }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const documented = [restDocument(), adminDocument()].flatMap((generated) => {
  const { paths } = JSON.parse(JSON.stringify(generated)) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
})

describe('the client of the API', () => {
  it('[CFG-3] knows every operation of the documents, and no other, under its id, method and path', () => {
    const known = Object.entries(OPERATIONS).map(([id, { method, path, isCreate, by }]) => [id, method, path, isCreate, by])
    const wanted = documented.map((operation) => [
      operation.operationId,
      operation.method,
      operation.path,
      (operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key'),
      waysOf(operation),
    ])
    expect(known.toSorted()).toEqual(wanted.toSorted())
  })

  it('[CFG-3] has the types that the documents name', async () => {
    const ids = await readSchemaIds()
    const rows = new Map(readRows())
    const wrong = documented.flatMap((operation) => {
      const given = rows.get(operation.operationId) ?? ''
      const names = [...given.matchAll(/as<typeof (\w+)/g)].map((match) => ids.get(String(match[1])))
      const lacking = refsOf(operation).filter((ref) => !names.includes(ref) && !names.includes(ref.replace(/OrChangePlan$/, '')))
      return lacking.length > 0 ? [`${operation.operationId}: ${lacking.join(', ')}`] : []
    })
    expect(wrong).toEqual([])
  })
})

function waysOf({ responses }: Operation): string {
  if ('101' in responses) return 'socket'
  const kinds = Object.entries(responses).flatMap(([status, { content = {} }]) => (status.startsWith('2') ? Object.keys(content) : []))
  return kinds.includes('text/event-stream') && !kinds.includes('application/json') ? 'events' : 'json'
}

/** Names of the schemas of a request body and of a success answer. */
function refsOf({ requestBody, responses, operationId }: Operation): string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const media = [requestBody?.content ?? {}, ...successes.map(([, { content = {} }]) => content)].flatMap((content) =>
    Object.values(content),
  )
  const refs = media.flatMap(({ schema }) => schema?.$ref?.split('/').at(-1) ?? [])
  // A create or rotate is typed by its result, not by the answer of its dry run.
  return [...new Set(refs)].filter((ref) => !(/^(create|rotate)/.test(operationId) && /Preview$|^ChangePlan$/.test(ref)))
}

/** The id of each operation in the sources, and the text of its row. */
function readRows(): [string, string][] {
  const folder = join(import.meta.dirname, '../../src/client/operations')
  const rows = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split(/^ {2}(?=\w+: )/m))
  return rows.flatMap((row) => {
    const id = /^(\w+): /.exec(row)?.[1]
    return id === undefined ? [] : [[id, row]]
  })
}

/** Names in the documents of the contract's schemas, by their names in the sources. */
async function readSchemaIds(): Promise<Map<string, string>> {
  const folder = join(import.meta.dirname, '../../src/contract')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const modules = await Promise.all(files.map((file) => import(join(folder, file)) as Promise<Record<string, unknown>>))
  const schemas = modules.flatMap((module) => Object.entries(module))
  return new Map(
    schemas.flatMap(([name, value]) => (value instanceof z.ZodType && value.meta()?.id ? [[name, String(value.meta()?.id)]] : [])),
  )
}
