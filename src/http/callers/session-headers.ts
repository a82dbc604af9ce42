import type { Principal } from '../../services/context.ts'
import type { Visit } from '../../services/credentials/authentication.ts'
import { accountAmongProtocols } from './authorization.ts'
import { clientSource } from './client-address.ts'

/** Response header that names the account that a session's request ran for (AUT-7). */
export const ACCOUNT_HEADER = 'X-Account-Id'
const TEAM_HEADER = 'X-Team-Id'

/** Collects the properties of a request that authentication needs in addition to `Authorization`. */
export function visitOf(request: Request, ctx: Pick<ExecutionContext, 'waitUntil'>): Visit {
  return {
    askedTeam: request.headers.get(TEAM_HEADER) ?? accountAmongProtocols(request),
    source: () => clientSource(request),
    waitUntil: (promise) => ctx.waitUntil(promise),
  }
}

/** Returns the account that an answer names: the account of a session, and null for a key. */
export function accountToName(principal: Principal | undefined): string | null {
  return principal?.via === 'SESSION' ? principal.teamId : null
}
