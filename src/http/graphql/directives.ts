import type { GraphQLField } from 'graphql'
import { valueFromASTUntyped } from 'graphql'

/** The arguments of a directive that the schema puts on a field; null where it puts none. */
export function directiveOf({ astNode }: Pick<GraphQLField<unknown, unknown>, 'astNode'>, name: string): Record<string, unknown> | null {
  const directive = astNode?.directives?.find((one) => one.name.value === name)
  if (!directive) return null
  return Object.fromEntries((directive.arguments ?? []).map((argument) => [argument.name.value, valueFromASTUntyped(argument.value)]))
}
