import { type DocumentNode, type GraphQLField, type GraphQLSchema, getOperationAST, Kind } from 'graphql'
import { Problem } from '../../contract/problems.ts'
import type { Capability, Scope } from '../../domain/access.ts'
import { countRequest } from '../../services/accounts/rate-limit.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { Call, Resolver } from './call.ts'
import { directiveOf } from './directives.ts'

const NO_KEY = 'this field needs an API key: send it as Authorization: Bearer, or as the parameter api_key'

/**
 * Puts the access rules of the schema in front of the resolvers: a root field without `@public` needs a key (GQL-3), a field with `@scope`
 * needs that scope (GQL-5). The verb behind a field checks again. Each mutation of a document counts as one request (GQL-27).
 */
export function guardFields(schema: GraphQLSchema): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType()]
  for (const type of Object.values(schema.getTypeMap())) {
    if (!('getFields' in type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (!('resolve' in field)) continue
      // Interfaces have fields too; only object types can be roots.
      const isRoot = roots.includes(type as never)
      const checks = checksOf(field, isRoot, type === schema.getMutationType())
      if (checks.length > 0) guard(field, checks)
    }
  }
  return schema
}

type Field = Pick<GraphQLField<unknown, Call>, 'name' | 'resolve' | 'astNode'>
type Check = (call: Call, args: Record<string, unknown>) => void | Promise<void>

function checksOf(field: Field, isRoot: boolean, isMutation: boolean): Check[] {
  const scope = directiveOf(field, 'scope')
  return [
    ...(isRoot && !directiveOf(field, 'public') ? [requireKey] : []),
    ...(isMutation ? [countMutation(endsSomething(field))] : []),
    ...(scope ? [scopeCheck(scope.name as Scope, scope.boundTo as string | undefined, scope.enough as Capability | undefined)] : []),
  ]
}

function guard(field: Field, checks: readonly Check[]): void {
  const inner = field.resolve as Resolver | undefined
  field.resolve = async (source, args, call) => {
    for (const check of checks) await check(call, args)
    return inner ? inner(source, args, call) : (source as Record<string, unknown> | undefined)?.[field.name]
  }
}

function requireKey({ isKnown }: Call): void {
  if (!isKnown) throw new Problem('accessDenied', { detail: NO_KEY })
}

function scopeCheck(scope: Scope, boundTo: string | undefined, enough: Capability | undefined): Check {
  return ({ ctx }, args) => requireScope(ctx.principal, scope, boundTo === undefined ? undefined : textAt(args, boundTo), enough)
}

function textAt(args: Record<string, unknown>, path: string): string | undefined {
  const found = path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], args)
  return typeof found === 'string' ? found : undefined
}

// The first mutation was counted with its document. Each further one is counted here and gets its own proof, so that no write uses the
// count of another (SHR-3).
function countMutation(ends: boolean): Check {
  return async (call) => {
    call.mutations += 1
    const { counted: ofDocument, ...ctx } = call.ctx
    const { verdict, counted } =
      call.mutations === 1 ? { verdict: null, counted: ofDocument } : await countRequest(ctx.env, ctx.principal, Date.now(), ends)
    call.ctx = counted ? { ...ctx, counted } : ctx
    if (verdict?.allowed === false) throw new Problem('rateLimited', { detail: `rate limit exceeded for the ${verdict.exceeded} window` })
  }
}

/** Whether the schema declares that a field ends something, which may use the reserve (CAP-3). */
function endsSomething(field: Pick<Field, 'astNode'>): boolean {
  return directiveOf(field, 'ends') !== null
}

/** Whether every field of a mutation ends something. A fragment spread counts as a field that does not. */
export function endsOnly(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): boolean {
  const operation = getOperationAST(document, operationName)
  const fields = schema.getMutationType()?.getFields()
  if (operation?.operation !== 'mutation' || !fields) return false
  return operation.selectionSet.selections.every((one) => {
    const field = one.kind === Kind.FIELD ? fields[one.name.value] : undefined
    return field !== undefined && endsSomething(field)
  })
}
