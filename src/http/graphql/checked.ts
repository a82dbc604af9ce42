import type { z } from 'zod'
import { Problem } from '../../contract/problems.ts'
import { describeIssues } from '../../contract/validation-errors.ts'
import type { Mapped } from '../../domain/flat/terms.ts'
import { inFlatTerms } from '../../domain/graphql/values.ts'

/** Validates a body against the schema of v2. Throws 422 with paths in the names of GraphQL. */
export function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  throw new Problem('validationFailed', { errors: describeIssues(result.error.issues, body).map(inFlatTerms) })
}

/** Returns the body of a mapping. Throws 400 if the mapping failed. */
export function mapped<Body>(result: Mapped<Body>): Body {
  if (!result.ok) throw new Problem('badRequest', { detail: result.detail, code: 'RULE' })
  return result.body
}

/** Returns a required input, which the schema allows to be null (GQL-12). Throws 422 if it is missing. */
export function needed<Input>(input: Input | null | undefined, name = 'input'): Input {
  if (input === null || input === undefined || input === '')
    throw new Problem('validationFailed', { errors: [`$: missing property '${name}'`] })
  return input
}
