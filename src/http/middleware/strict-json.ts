import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import type { AppContext } from '../app-env.ts'

/**
 * Refuses a body with a member called `__proto__` (STRICT-1). Validation would drop it in silence where names are free, such as in
 * `env`, and the caller would believe it was stored.
 */
export async function refuseProtoMembers(c: AppContext, next: Next): Promise<void> {
  // Any other type is refused by the route itself (415).
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? '')) return next()
  const text = await c.req.text()
  // The name can also be spelled with escapes; only a parse tells.
  if (text.includes('__proto__') || text.includes('\\u')) {
    const location = findProto(parseOrNull(text))
    if (location !== null) {
      throw new Problem('validationFailed', { errors: [`${location}: additional properties '__proto__' not allowed`] })
    }
  }
  await next()
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// A loop with a stack of its own: a body may nest deeper than calls can.
function findProto(root: unknown): string | null {
  const open: { value: unknown; location: string }[] = [{ value: root, location: '$' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, location } = next
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) return location
    const isList = Array.isArray(value)
    for (const [key, member] of Object.entries(value)) {
      if (typeof member === 'object') open.push({ value: member, location: isList ? `${location}[${key}]` : `${location}.${key}` })
    }
  }
  return null
}
