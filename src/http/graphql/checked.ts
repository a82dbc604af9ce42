import type { z } from 'zod'
import { Problem } from '../../contract/problems.ts'
import { describeIssues } from '../../contract/validation-errors.ts'
import { inFlatWords, type Mapped } from '../../domain/graphql/words.ts'

/** A body in v2, checked as v2 checks it; what is wrong is told by the names of GraphQL. Throws 422. */
export function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  throw new Problem('validationFailed', { errors: describeIssues(result.error.issues, body).map(inFlatWords) })
}

/** The body of a mapping. Throws the 400 that it is otherwise. */
export function mapped<Body>(result: Mapped<Body>): Body {
  if (!result.ok) throw new Problem('badRequest', { detail: result.detail, code: 'RULE' })
  return result.body
}

/** An input that a mutation cannot do without: the schema lets it be null (GQL-12). Throws 422. */
export function needed<Input>(input: Input | null | undefined, name = 'input'): Input {
  if (input === null || input === undefined || input === '')
    throw new Problem('validationFailed', { errors: [`$: missing property '${name}'`] })
  return input
}
