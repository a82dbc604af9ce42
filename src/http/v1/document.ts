import { z } from 'zod'
import type { V1Route } from './route.ts'

const TITLE = 'podplane, API v1'
const DESCRIPTION =
  'API v1 as it is mapped onto v2, for older clients; it was retired on 15 November 2026. Members of bodies may be null, which says nothing. Where a member has no bounds here, those of v2 hold.'

/**
 * Returns the OpenAPI 3.1 document of the supported part of v1 (API-20): operations and their bodies. Answers are not described, because
 * existing clients of v1 know them.
 */
export function v1Document(routes: readonly V1Route[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = `/v1${route.path.replaceAll(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, path) }
  }
  return {
    openapi: '3.1.0',
    info: { title: TITLE, version: '1', description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
      schemas: { V1Problem: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } },
    },
  }
}

function operation({ method, schema }: V1Route, path: string): object {
  const words = path.split('/').slice(2)
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  return {
    operationId: `${method.toLowerCase()}_${words.map((word) => word.replace(/[{}]/g, '')).join('_')}`,
    summary: `${method} ${path}`,
    tags: [words[0]],
    ...(parameters.length > 0 && { parameters }),
    ...(schema && { requestBody: { required: true, content: { 'application/json': { schema: bodySchema(schema) } } } }),
    responses: {
      '2XX': { description: 'Done.', content: { 'application/json': { schema: {} } } },
      default: { description: 'Refused.', content: { 'application/json': { schema: { $ref: '#/components/schemas/V1Problem' } } } },
    },
  }
}

function bodySchema(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema }) => dropWidth(jsonSchema) })
  return json
}

/** Drops the bounds of a safe integer: they restrict nothing, and v2 has its own bounds where v1 has none (LEG-5). */
function dropWidth(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
