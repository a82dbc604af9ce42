import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { describeJsonFault, jsonFault } from '../../domain/text/json-fault.ts'
import type { AppContext } from '../app-env.ts'

/** Only plain JSON. A merge patch is another type: its null removes a member, whereas a null here is an error (STRICT-2, STRICT-3). */
const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Reads the body that a route requires: it must exist (REST-10), have the JSON content type (ERR-2), be JSON (ERR-20), and have no member
 * `__proto__` (STRICT-1). Where names are free, as in `env`, validation would drop such a member silently, and the caller would believe
 * that it was stored. Throws 415 for another content type, 400 without JSON and 422 for that member.
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

// The loop has its own stack, because a body may nest deeper than the call stack allows.
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
