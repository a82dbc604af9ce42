import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { AppEnv } from '../app-env.ts'

type Json = null | boolean | number | string | Json[] | JsonObject
type JsonObject = { [key: string]: Json }

type Info = Record<'title' | 'version' | 'description', string>

type Tag = Record<'name' | 'description', string>

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
/** Marks every copy of a component with the component's name. */
const MARK = 'x-component'
/** Members that a use of a component may override. */
const KEYWORDS = ['description', 'default', 'example']
/** Members that hold data of users, not schemas. */
const DATA: ReadonlySet<string> = new Set(['default', 'enum', 'example'])
const WRAPPER = 'Response'
const INT32_MAX = 2 ** 31 - 1

/**
 * Returns the OpenAPI 3.1 document of an app in the form that client generators need (DOC-10): named schemas become references, with the
 * overridden members beside the reference, and every integer has a format that gives its width.
 */
export function openApiDocument(app: OpenAPIHono<AppEnv>, info: Info, tags: readonly Tag[]): JsonObject {
  markComponents()
  const generated = app.getOpenAPI31Document({ openapi: '3.1.0', info: { ...info, license: LICENSE }, servers: [{ url: '/' }] })
  const document: JsonObject = JSON.parse(JSON.stringify(generated))
  const parts = objectOf(document.components)
  const paths = withBodyLimit(objectOf(document.paths))
  const components = { ...copiedComponents(document), ...objectOf(parts.schemas) }
  const wrappers = wrapperNames(paths)
  const schemas = mapMembers(components, (schema, name) => withGoName(without(objectOf(schema), [MARK]), name, wrappers))
  const used = JSON.stringify(paths)
  const named = tags.filter(({ name }) => used.includes(`"tags":["${name}"]`)).map((tag): JsonObject => ({ ...tag }))
  return objectOf(refine({ ...document, tags: named, paths, components: { ...parts, schemas } }, schemas))
}

// The body limit applies before the route is known (RATE-6), so a call without a body can be answered 413 as well.
function withBodyLimit(paths: JsonObject): JsonObject {
  const limited = (method: string, operation: Json): Json => {
    const responses = objectOf(objectOf(operation).responses)
    const { default: any } = responses
    const isMeasured = method !== 'get' && JSON.stringify(any ?? null).includes('application/problem+json')
    if (!isMeasured || responses['413'] !== undefined) return operation
    const { headers: _, ...refusal } = objectOf(any)
    return { ...objectOf(operation), responses: { ...responses, 413: { ...refusal, description: 'The body is too large.' } } }
  }
  return mapMembers(paths, (item) => mapMembers(objectOf(item), (operation, method) => limited(method, operation)))
}

function mapMembers(value: JsonObject, change: (member: Json, name: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]))
}

// A schema with its own description is a copy without an id. It inherits the other metadata of the named schema, and so also this mark.
function markComponents(): void {
  for (const [id, schema] of z.globalRegistry._idmap) z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), [MARK]: id })
}

/** Names of the Go types in which oapi-codegen wraps the answers of operations. */
function wrapperNames(paths: JsonObject): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((item) => Object.values(objectOf(item)))
  return new Set(operations.map((operation) => String(objectOf(operation).operationId)).map((id) => `${capitalized(id)}${WRAPPER}`))
}

/** Gives a schema whose name collides with such a type another name in Go (DOC-2). */
function withGoName(schema: JsonObject, name: string, wrappers: ReadonlySet<string>): JsonObject {
  return wrappers.has(name) ? { ...schema, 'x-go-name': `${name.slice(0, -WRAPPER.length)}Result` } : schema
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Components that the document contains as copies only. */
function copiedComponents(value: Json): JsonObject {
  if (typeof value !== 'object' || value === null) return {}
  const inner = Object.values(value).map(copiedComponents)
  const name = Array.isArray(value) ? undefined : value[MARK]
  return Object.assign({}, ...inner, typeof name === 'string' ? { [name]: without(objectOf(value), ['description', 'default']) } : {})
}

function refine(value: Json, components: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => refine(item, components))
  if (typeof value !== 'object' || value === null) return value
  const { [MARK]: name, ...schema } = value
  const component = typeof name === 'string' ? objectOf(components[name]) : undefined
  if (component && isCopy(schema, component)) return { $ref: `#/components/schemas/${name}`, ...ownKeywords(schema, component) }
  const refined = Object.entries(schema).map(([key, member]) => [key, DATA.has(key) ? member : refine(member, components)])
  return withWidth(Object.fromEntries(refined))
}

function isCopy(schema: JsonObject, component: JsonObject): boolean {
  return JSON.stringify(without(schema, KEYWORDS)) === JSON.stringify(without(component, KEYWORDS))
}

function ownKeywords(schema: JsonObject, component: JsonObject): JsonObject {
  const own = Object.entries(schema).filter(
    ([key, word]) => KEYWORDS.includes(key) && JSON.stringify(word) !== JSON.stringify(component[key]),
  )
  return Object.fromEntries(own)
}

function withWidth(schema: JsonObject): JsonObject {
  const { type, minimum, maximum } = schema
  if (type !== 'integer' && !(Array.isArray(type) && type.includes('integer'))) return schema
  const isNarrow = Number(minimum ?? Number.NaN) >= -INT32_MAX && Number(maximum ?? Number.NaN) <= INT32_MAX
  return { ...schema, format: isNarrow ? 'int32' : 'int64' }
}

function without(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
