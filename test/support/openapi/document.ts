/** The parts of an OpenAPI document that the tests read; no document of ours has a boolean schema. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  uniqueItems?: boolean
  default?: unknown
  required?: string[]
  dependentRequired?: Record<string, string[]>
  properties?: Record<string, Schema>
  propertyNames?: Schema
  additionalProperties?: boolean | Schema
  unevaluatedProperties?: boolean
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  if?: Schema
  then?: Schema
  example?: unknown
  description?: string
}

export interface Parameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  style?: string
  explode?: boolean
  schema: Schema
}

export interface Body {
  required?: boolean
  content: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
}

export interface Answer {
  $ref?: string
  description?: string
  headers?: Record<string, { $ref?: string; schema?: Schema }>
  content?: Body['content']
}

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: Body
  responses: Record<string, Answer>
}

export interface OpenApi {
  paths: Record<string, { parameters?: Parameter[] } & Partial<Record<Method, Operation>>>
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> }
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof METHODS)[number]

/** An operation with its place; parameters of the path are among its own. */
export interface Placed {
  name: string
  method: Method
  path: string
  operation: Operation
  parameters: Parameter[]
}

/** Every operation of a document, named as `GET /v2/pods`. */
export function placedOperations(document: OpenApi): Placed[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) => resolve(document, parameter))
      return [{ name: `${method.toUpperCase()} ${path}`, method, path, operation, parameters }]
    }),
  )
}

/** The target of a `$ref`, or the thing itself. */
export function resolve<Thing extends { $ref?: string }>(document: OpenApi, thing: Thing): Thing {
  if (thing.$ref === undefined) return thing
  const [, , kind = '', name = ''] = thing.$ref.split('/')
  const target = document.components[kind]?.[name]
  if (target === undefined) throw new Error(`${thing.$ref} points at nothing`)
  return resolve(document, target as Thing)
}
