import type { Next } from 'hono'
import { MAX_REST_BODY_BYTES } from '../../contract/limits.ts'
import { Problem } from '../../contract/problems.ts'
import { MAX_SECRET_BODY_BYTES, VALUE_FORM } from '../../contract/resources/secrets.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { MAX_JSON_MEMBERS, scanJson } from '../../domain/text/json-scan.ts'
import type { AppContext } from '../app-env.ts'
import { readCapped } from './body-limit.ts'
import { countBody } from './in-flight-body.ts'

const OPENING = '[{'

/**
 * Reads the body of a secret, which may be large (ACC-5): after the key check, so that callers without a key send nothing, counted towards
 * the account's bytes under way (BUDGET-4), and only up to the largest body that a secret can have. Throws 413 above it.
 */
export async function secretBody(c: AppContext, next: Next): Promise<void> {
  if ((announcedBytes(c.req.raw.headers) ?? 0) > MAX_SECRET_BODY_BYTES) throw tooLarge()
  const { request, refusal } = await countBody(c.env, c.req.raw, c.var.principal.teamId, MAX_SECRET_BODY_BYTES)
  const body = request.body && (await readCapped(request.body, MAX_SECRET_BODY_BYTES))
  const refused = refusal()
  if (refused !== null) throw refused
  if (request.body && !body) throw tooLarge()
  c.req.raw = new Request(request, { body })
  if (body && body.byteLength > MAX_REST_BODY_BYTES) refuseNesting(await c.req.text())
  await next()
}

// Parsing megabytes of small members would block other requests for seconds, and no secret has nested values.
function refuseNesting(text: string): void {
  const nested: string[] = []
  const shape = scanJson(
    text,
    (nameStart, nameEnd, valueStart) => {
      if (nested.length === 0 && OPENING.includes(text.charAt(valueStart))) nested.push(text.slice(nameStart + 1, nameEnd - 1))
    },
    MAX_JSON_MEMBERS,
  )
  if (nested.length > 0) throw new Problem('validationFailed', { errors: [`$.${nested[0]}: want string`] })
  // `strictJson` reports a text that is not JSON.
  if (shape && (shape.kind !== 'object' || shape.count > MAX_JSON_MEMBERS)) {
    throw new Problem('validationFailed', { errors: ['$: want an object with the members of a secret'] })
  }
}

function tooLarge(): Problem {
  return new Problem('validationFailed', {
    errors: [`$.value: ${VALUE_FORM}; the whole body has more than ${MAX_SECRET_BODY_BYTES} bytes`],
  })
}
