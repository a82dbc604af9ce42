import type { AppContext } from './app-env.ts'

const ERRORS = [{ message: 'GraphQL is not served by this plane' }]

/**
 * Says in GraphQL's own form that there is no GraphQL here (PP-120). Its clients look for `errors` and take anything else for success:
 * without that member `terminate_pod` of one returns while the pod runs on.
 */
export function graphqlUnserved(c: AppContext): Response {
  return c.json({ errors: ERRORS }, 501)
}
