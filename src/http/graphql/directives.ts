import type { GraphQLField } from 'graphql'
import { valueFromASTUntyped } from 'graphql'

/** Returns the arguments of a directive on a field of the schema; null if the field does not have it. */
export function directiveOf({ astNode }: Pick<GraphQLField<unknown, unknown>, 'astNode'>, name: string): Record<string, unknown> | null {
  const directive = astNode?.directives?.find((one) => one.name.value === name)
  if (!directive) return null
  return Object.fromEntries((directive.arguments ?? []).map((argument) => [argument.name.value, valueFromASTUntyped(argument.value)]))
}
