import { Problem } from '../contract/problems.ts'
import type { Authentication } from '../services/accounts/authenticate.ts'

/** The answer to a caller who is not let in: 401 (ERR-8), or 429 where too many unknown keys came from the same address (PP-200). */
export function authenticationProblem(refused: Extract<Authentication, { ok: false }>): Problem {
  if (refused.problem !== 'rateLimited') return new Problem(refused.problem)
  const detail = `too many unknown keys from this address; try again in ${refused.waitSeconds} seconds`
  return new Problem('rateLimited', { detail, headers: { 'Retry-After': String(refused.waitSeconds) } })
}
