import type { OpenAPIHono } from '@hono/zod-openapi'
import { Problem } from '../../contract/problems.ts'
import type { AppContext, AppEnv } from '../app-env.ts'

interface KnownPath {
  pattern: RegExp
  allow: string
}

/**
 * Returns the last handler of an API: it throws 405 with `Allow` for a path that other methods have, and 404 for any other path (ERR-2).
 * Call it after every route of `app` is registered. It runs behind authentication (ERR-6). `documentPath` is the path of the OpenAPI
 * document.
 */
export function unmatched(app: OpenAPIHono<AppEnv>, documentPath: string): (c: AppContext) => never {
  const known = [...knownPaths(app), { pattern: patternOf(documentPath), allow: 'GET' }]
  return (c) => {
    const match = known.find(({ pattern }) => pattern.test(c.req.path))
    if (!match) throw new Problem('pathNotFound')
    throw new Problem('methodNotAllowed', { headers: { Allow: match.allow } })
  }
}

function knownPaths(app: OpenAPIHono<AppEnv>): KnownPath[] {
  const methods = new Map<string, Set<string>>()
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue
    const { path, method } = definition.route
    methods.set(path, (methods.get(path) ?? new Set()).add(method.toUpperCase()))
  }
  return [...methods].map(([path, verbs]) => ({
    pattern: patternOf(path),
    allow: [...verbs].join(', '),
  }))
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
