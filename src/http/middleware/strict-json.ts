import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { describeJsonFault, jsonFault } from '../../domain/text/json-fault.ts'
import type { AppContext } from '../app-env.ts'

/** A merge patch is another type: its null removes a member, and a null here is a fault (STRICT-2, STRICT-3). */
const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Reads the body that a route requires: there is one (RST-10), it says that it is JSON (ERR-2), it is JSON (PP-123), and no member is
 * called `__proto__` (STRICT-1). Validation would drop such a member in silence where names are free, such as in `env`, and the caller
 * would believe it was stored.
 */
export async function strictJson(c: AppContext, next: Next): Promise<void> {
  const type = c.req.header('content-type')
  if (type !== undefined && !JSON_TYPE.test(type)) throw new Problem('unsupportedMediaType')
  const text = await c.req.text()
  if (text === '') throw new Problem('badRequest', { detail: 'the request has no body: send a JSON object' })
  if (type === undefined) throw new Problem('unsupportedMediaType')
  const location = findProto(parse(text))
  if (location !== null) {
    throw new Problem('validationFailed', { errors: [`${location}: additional properties '__proto__' not allowed`] })
  }
  await next()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const fault = jsonFault(text)
    const detail = `the request body is not valid JSON${fault ? `: ${describeJsonFault(fault)}` : ''}`
    throw new Problem('badRequest', { detail, cause })
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
