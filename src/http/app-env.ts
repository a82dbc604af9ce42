import type { Context } from 'hono'
import type { Env } from '../env.ts'
import type { Counted } from '../objects/counted.ts'
import type { Operator, OperatorContext, Precondition, Principal, VerbContext } from '../services/context.ts'

/** What every handler finds on its context. `principal` is set once a REST caller has been authenticated. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    principal: Principal
    /** Set once the request was counted (SHR-3). */
    counted?: Counted
    /** Set once a caller of the operator API is known. */
    operator: Operator
    /** Set by the routes of what has a tag of its state (RST-21). */
    precondition?: Precondition
  }
}

export type AppContext = Context<AppEnv>

/** What a verb needs, from an authenticated request. */
export function verbContext(c: AppContext): VerbContext {
  const { principal, requestId, counted, precondition } = c.var
  return { env: c.env, principal, nowMs: Date.now(), requestId, ...(counted && { counted }), ...(precondition && { precondition }) }
}

/** What a verb of the operator needs. */
export function operatorContext(c: AppContext): OperatorContext {
  return { env: c.env, nowMs: Date.now(), requestId: c.var.requestId, operator: c.var.operator }
}
