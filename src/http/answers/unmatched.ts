import type { OpenAPIHono } from '@hono/zod-openapi'
import { Problem } from '../../contract/problems.ts'
import type { AppContext, AppEnv } from '../app-env.ts'

interface KnownPath {
  pattern: RegExp
  allow: string
}

/**
 * The last handler of a surface: a path that some other method has is 405 with `Allow`, any other 404 (ERR-2). Call it once every
 * route of `app` is registered. It runs behind authentication, as ERR-6 wants. `documentPath` is where the document itself is read.
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
