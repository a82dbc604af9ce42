import { Problem } from '../../contract/problems.ts'
import type { Refused } from '../../services/credentials/authentication.ts'
import { ACCOUNT_HEADER } from './session-headers.ts'

/**
 * Returns the problem for a failed authentication: 401 (ERR-8), 403 for a known caller that is refused, 429 after too many unknown keys
 * from one address (KEY-10), 503 while the credential cannot be checked (OIDC-4).
 */
export function authenticationProblem(refused: Refused): Problem {
  switch (refused.problem) {
    case 'rateLimited': {
      const detail = `this address sent too many unknown keys; retry in ${refused.waitSeconds} seconds`
      return new Problem('rateLimited', { detail, headers: { 'Retry-After': String(refused.waitSeconds) } })
    }
    case 'unavailable':
      return new Problem('unavailable', { detail: refused.detail, headers: { 'Retry-After': String(refused.waitSeconds) } })
    case 'accountSuspended':
      return new Problem('accountSuspended', {
        headers: refused.sessionAccount === null ? {} : { [ACCOUNT_HEADER]: refused.sessionAccount },
      })
    case 'accessDenied':
      return new Problem('accessDenied', { detail: refused.detail })
    default:
      return new Problem(refused.problem, refused.errors && { errors: refused.errors })
  }
}
