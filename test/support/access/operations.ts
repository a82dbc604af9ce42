import { JOB_ROUTES, type JobRoute } from '../../../src/contract/jobs/job-routes.ts'
import { restDocument } from '../../../src/http/rest-api.ts'
import { send } from '../harness.ts'

/** An operation of the plane, by its method and its path with parameters in braces. */
export interface Operation {
  method: string
  path: string
  /** The scope that a key needs (AUT-3), from the document. */
  scope: string
  /** The example of the document: it is valid, so that only the id or the caller can cause a refusal. */
  body: object | undefined
  /** Whether it supports a dry run (DRY-5). */
  isPlannable?: boolean
  /** Its name in the document. */
  id?: string
  /** Whether it supports a precondition on the state that it changes (REST-21). */
  isConditional?: boolean
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        'x-scope'?: string
        operationId?: string
        parameters?: { name?: string }[]
        requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
      }
    >
  >
  components: { schemas: Record<string, { example?: object }> }
}

/** Every operation of a document. */
export function documentedIn(generated: object): Operation[] {
  const document = JSON.parse(JSON.stringify(generated)) as Document
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters = [], operationId: id = '', 'x-scope': scope = '' }]) => {
      const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
      const isPlannable = parameters.some((parameter) => parameter.name === 'dryRun')
      const isConditional = parameters.some((parameter) => parameter.name === 'If-Match')
      return {
        method,
        path,
        scope,
        isPlannable,
        id,
        isConditional,
        body: requestBody && (document.components.schemas[name]?.example ?? { input: {} }),
      }
    }),
  )
}

/** Every documented operation of REST and of the job API. */
export const DOCUMENTED: readonly Operation[] = documentedIn(restDocument())

/** Operations of workers, which no document describes. */
export const OF_WORKERS: readonly Operation[] = Object.entries<JobRoute>(JOB_ROUTES)
  .filter(([, { caller }]) => caller === 'worker')
  .flatMap(([operation, { methods, params }]) => {
    const path = `/v2/{endpointId}/${operation}/{workerId}${params === 'worker-job' ? '/{jobId}' : ''}`
    return methods.map((method) => ({
      method: method.toLowerCase(),
      path,
      scope: '',
      body: method === 'POST' ? { output: 'forged' } : undefined,
    }))
  })

const kindOf = (path: string) => path.slice(0, path.indexOf('{'))

/** The scope of data that belongs to no account, so that every key may read it (AUT-4). */
export const UNSCOPED = 'none'

/** The kinds of accounts' resources: their paths before the first parameter. */
export const KINDS = [
  ...new Set(DOCUMENTED.filter(({ path, scope }) => path.includes('{') && scope !== UNSCOPED).map(({ path }) => kindOf(path))),
]

/** The documented operations on a kind. Operations that end their target are last. */
export function operationsOf(kind: string): Operation[] {
  return DOCUMENTED.filter(({ path }) => path.includes('{') && kindOf(path) === kind).sort(
    (one, other) => Number(one.method === 'delete') - Number(other.method === 'delete'),
  )
}

/** An unknown id of the same form. */
export const unknownOf = (id: string) => id.slice(0, -1) + (id.endsWith('a') ? 'b' : 'a')

/** A path with its parameters filled in. */
export function fill(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the victim has no ${name} for ${path}`)
    return value
  })
}

/** An answer without the requested id and the values unique to a request. */
export interface Answer {
  status: number
  headers: string[]
  body: string
}

/** Calls with an `Authorization` header, or with none. The body of a success is not read: an open stream would never end. */
export async function ask(
  authorization: string | null,
  { method, body }: Operation,
  path: string,
  id: string,
  more: Record<string, string> = {},
): Promise<Answer> {
  const response = await send(path, {
    method: method.toUpperCase(),
    headers: {
      ...more,
      ...(authorization !== null && { Authorization: authorization }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const headers = [...response.headers.keys()].sort()
  if (response.ok) await response.body?.cancel()
  const text = response.ok ? '' : await response.text()
  return { status: response.status, headers, body: text.replaceAll(id, '<id>') }
}
