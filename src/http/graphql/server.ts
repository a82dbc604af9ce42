import {
  buildSchema,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  isObjectType,
  isScalarType,
  Kind,
  OperationTypeNode,
  specifiedRules,
  subscribe,
  type ValueNode,
  validate,
} from 'graphql'
import { GRAPHQL_SCHEMA } from '../../contract/graphql/schema.ts'
import { endsOnly, guardFields } from './access.ts'
import { answerOf } from './answer.ts'
import type { Call } from './call.ts'
import { boundedCost } from './guards/cost.ts'
import { readDocument } from './guards/document.ts'
import { type GraphqlParams, readParams } from './params.ts'
import { RESOLVERS } from './resolvers/resolvers.ts'

const RULES = [...specifiedRules, boundedCost]

/** Returns the schema with its resolvers, each behind the access rules of its field. Throws if a resolver belongs to no field. */
export function executableSchema(): GraphQLSchema {
  const schema = buildSchema(GRAPHQL_SCHEMA)
  for (const [typeName, resolvers] of Object.entries(RESOLVERS)) {
    const type = schema.getType(typeName)
    for (const [name, resolve] of Object.entries(resolvers)) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined
      if (!field) throw new Error(`${typeName}.${name}: the schema has no such field; remove its resolver or declare the field`)
      field.resolve = resolve
    }
  }
  const flashBootType = schema.getType('FlashBootType')
  if (isScalarType(flashBootType)) flashBootType.parseLiteral = flashBootOf
  return guardFields(schema)
}

/** Returns an enum value, written as an enum inline and as a string in variables; empty means unset (GQL-16). */
function flashBootOf(node: ValueNode): string | null {
  return node.kind === Kind.ENUM || node.kind === Kind.STRING ? node.value : null
}

const schema = executableSchema()

/** Whether a body's document contains nothing but mutations that end something (CAP-3); false if it cannot be parsed. */
export function endsThings(type: string | undefined, text: string): boolean {
  try {
    const { query, operationName } = readParams(type, text)
    return endsOnly(schema, readDocument(query), operationName)
  } catch {
    return false
  }
}

/** Executes a document that has passed the checks of the transport. Documents are not cached, because they may hold passwords (GQL-26). */
export async function runDocument(params: GraphqlParams, call: Call): Promise<Response> {
  return answerOf(await resultOf(params, call), call.ctx.requestId)
}

/** Returns a result without data if the document, its operation or its variables are refused (GQL-6). */
async function resultOf({ query, variables, operationName }: GraphqlParams, call: Call): Promise<ExecutionResult> {
  try {
    const document = readDocument(query)
    const operation = getOperationAST(document, operationName)
    if (!operation) throw new GraphQLError('Could not determine what operation to execute.')
    const errors = validate(schema, document, RULES)
    if (errors.length > 0) return { errors }
    // The schema has no subscriptions: `subscribe` refuses them, where `execute` would report a fault of a field.
    const run = operation.operation === OperationTypeNode.SUBSCRIPTION ? subscribe : execute
    return (await run({ schema, document, contextValue: call, variableValues: variables, operationName })) as ExecutionResult
  } catch (error) {
    return { errors: [error instanceof GraphQLError ? error : new GraphQLError('the document failed', { originalError: error as Error })] }
  }
}
