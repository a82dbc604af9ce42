import type { Context } from 'hono'
import type { Env } from '../env.ts'
import type { Counted } from '../rpc/counted.ts'
import type { Operator, OperatorContext, Precondition, Principal, VerbContext } from '../services/context.ts'

/** Bindings and variables on the context of every handler. `principal` is set once a REST caller is authenticated. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    principal: Principal
    /** Proof that the request was counted (SHR-3); set after counting. */
    counted?: Counted
    /** Bookmark of the caller's writes, for a request that only reads (RATE-34). */
    newestWrite?: Promise<string | null>
    /** Set once a caller of the operator API is authenticated. */
    operator: Operator
    /** The parsed `If-Match`; set by routes of resources with an ETag (REST-21). */
    precondition?: Precondition
  }
}

/** The context of a request, with the values that middleware has set. */
export type AppContext = Context<AppEnv>

/** Builds the context of a verb from an authenticated request. */
export function verbContext(c: AppContext): VerbContext {
  const { principal, requestId, counted, newestWrite, precondition } = c.var
  const given = { ...(counted && { counted }), ...(newestWrite && { newestWrite }), ...(precondition && { precondition }) }
  return { env: c.env, principal, nowMs: Date.now(), requestId, ...given }
}

/** Builds the context of an operator's verb. */
export function operatorContext(c: AppContext): OperatorContext {
  return { ...callerlessContext(c), operator: c.var.operator }
}

/** Builds the part of a context that needs no caller. */
export function callerlessContext(c: AppContext) {
  return { env: c.env, nowMs: Date.now(), requestId: c.var.requestId }
}
