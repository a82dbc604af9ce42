import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import adminText from '../../../docs/openapi-admin-v1.json?raw'
import consoleText from '../../../docs/openapi-console.json?raw'
import restText from '../../../docs/openapi-v2.json?raw'
import { JOB_ROUTES } from '../../../src/contract/jobs/job-routes.ts'
import { type Answer, type OpenApi, type Placed, placedOperations, resolve, type Schema } from './document.ts'

// Every answer in a test is compared with the document that describes it (DOC-13). A member that no schema names is a fault too, though the
// documents allow answers to gain members.

/** The checked parts of an answer; a stream has no text. */
export interface Given {
  method: string
  url: URL
  status: number
  headers: Headers
  text: string | null
}

/** An operation and its document. */
export interface Known extends Placed {
  document: OpenApi
  pattern: RegExp
}

const documents: OpenApi[] = [restText, adminText, consoleText].map((text) => JSON.parse(text))
/** Literal segments first: a pattern must not match another documented path. */
export const OPERATIONS: readonly Known[] = documents
  .flatMap((document) => placedOperations(document).map((placed) => ({ ...placed, document, pattern: patternOf(placed.path) })))
  .toSorted((a, b) => parametersIn(a.path) - parametersIn(b.path))

const validators = new Map<string, ValidateFunction>()
let engine: Ajv2020 | undefined

/** The reason why an answer does not match its document, or null. */
export function answerFault(given: Given): string | null {
  const operation = OPERATIONS.find(({ pattern, method }) => method === given.method.toLowerCase() && pattern.test(given.url.pathname))
  if (!operation) return isOurs(given.url) ? strayFault(given) : null
  const fault = documentedFault(operation, given)
  return fault === null ? null : `${operation.name} ${given.status}: ${fault}`
}

/** Fault of an answer outside all operations: only general refusals are allowed there. */
function strayFault({ method, url, status }: Given): string | null {
  const isRefusal = [401, 403, 404, 405, 410, 413, 429].includes(status) || status >= 500
  return isRefusal ? null : `${method} ${url.pathname} ${status}: no document names this operation`
}

function documentedFault({ document, operation }: Known, given: Given): string | null {
  const own = operation.responses[given.status] ?? (given.status >= 500 ? operation.responses.default : undefined)
  // A repeated read of a console page: 304 is for browsers alone (SESSION-26), and replaces the documented 200.
  if (!own && given.status === 304 && given.method === 'GET' && /Cookie/.test(given.headers.get('vary') ?? '')) return null
  if (!own) return 'this status is not documented'
  const answer = resolve(document, own)
  return headersFault(document, answer, given.headers) ?? bodyFault(document, answer, given)
}

function headersFault(document: OpenApi, answer: Answer, headers: Headers): string | null {
  const documented = Object.entries(answer.headers ?? {})
  for (const [name, header] of documented) {
    const value = headers.get(name)
    // An exempt account has no windows, and a caller refused before the rate limit has not used one.
    if (value === null && /^RateLimit/.test(name)) continue
    if (value === null) return `the header ${name} is missing`
    if (resolve(document, header).schema?.type === 'integer' && !/^\d+$/.test(value)) return `the header ${name} is no integer: ${value}`
  }
  if (headers.has('RateLimit') !== headers.has('RateLimit-Policy')) return 'one of the two rate limit headers is missing'
  const isNamed = documented.some(([name]) => name === 'RateLimit')
  return headers.has('RateLimit') && !isNamed ? 'the rate limit headers are not documented' : null
}

function bodyFault(document: OpenApi, { content }: Answer, { headers, text }: Given): string | null {
  const type = headers.get('content-type')?.split(';')[0] ?? null
  if (!content) return text ? `a body of ${type} where none is documented` : null
  const body = type === null ? undefined : content[type]
  if (!body) return `content type ${type}, documented: ${Object.keys(content).join(', ')}`
  if (text === null || !type?.endsWith('json')) return null
  return valueFault(document, body.schema, JSON.parse(text))
}

/** The reason why a value does not match a schema of a document, or null. */
export function valueFault(document: OpenApi, schema: Schema, value: unknown): string | null {
  const validate = validatorOf(document, schema)
  if (validate(value)) return null
  const faults = validate.errors?.map(({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`)
  return faults?.join('; ') ?? 'unknown'
}

function validatorOf(document: OpenApi, schema: Schema): ValidateFunction {
  const id = `${documents.indexOf(document)} ${JSON.stringify(schema)}`
  const known = validators.get(id)
  if (known) return known
  const compiled = engineOf().compile(pointedAt(document, closed(schema)))
  validators.set(id, compiled)
  return compiled
}

function engineOf(): Ajv2020 {
  if (engine) return engine
  engine = new Ajv2020({ strict: false, validateFormats: true })
  addFormatsModule.default(engine)
  for (const [index, { components }] of documents.entries()) {
    engine.addSchema({ $id: `document:${index}`, ...pointedAt({ index }, { components: { schemas: closed(components.schemas) } }) })
  }
  return engine
}

/** A schema whose references resolve in the document as the validator has it. */
function pointedAt<Value>(document: OpenApi | { index: number }, value: Value): Value {
  const index = 'index' in document ? document.index : documents.indexOf(document)
  return JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', `"$ref":"document:${index}#/`))
}

/** Closes every object schema that names its members and does not say which others are allowed. */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, name === 'example' ? member : closed(member)])
  const isOpen = 'properties' in value && 'type' in value && !('additionalProperties' in value)
  return Object.fromEntries([...members, ...(isOpen ? [['additionalProperties', false]] : [])])
}

/** Paths that the documents cover: not those of workers and hosts, and not the documents themselves. */
function isOurs({ pathname }: URL): boolean {
  const [, surface, , operation] = pathname.split('/')
  if (pathname.endsWith('/openapi.json')) return false
  if (surface === 'admin') return true
  const route = Object.entries(JOB_ROUTES).find(([name]) => name === operation)?.[1]
  return surface === 'v2' && route?.caller !== 'worker'
}

function patternOf(path: string): RegExp {
  // The part of the path after `openai` may contain slashes.
  const pattern = path
    .replaceAll('.', '\\.')
    .replace('{route}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`)
}

function parametersIn(path: string): number {
  return path.split('{').length - 1
}
