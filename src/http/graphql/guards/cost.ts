import {
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'
import { directiveOf } from '../directives.ts'

/** Highest cost of a document, in scalar values (GQL-25). A query for a hundred pods with all their fields costs a fifth of it. */
export const MAX_COST = 40_000

/** A validation rule that bounds the cost of each operation by the schema's `@cost` and `@listSize` (GQL-25). */
export function boundedCost(context: ValidationContext) {
  return {
    OperationDefinition(node: OperationDefinitionNode) {
      const schema = context.getSchema()
      const root = { query: schema.getQueryType(), mutation: schema.getMutationType(), subscription: null }[node.operation]
      const cost = root ? costOf(context, node.selectionSet, root, new Map()) : 0
      if (cost > MAX_COST) {
        const message = `the document costs ${cost}, above the maximum of ${MAX_COST}; request fewer fields or lists at once`
        context.reportError(new GraphQLError(message, { nodes: [node] }))
      }
    },
  }
}

function costOf(
  context: ValidationContext,
  { selections }: SelectionSetNode,
  type: GraphQLNamedType,
  known: Map<FragmentDefinitionNode, number>,
): number {
  let sum = 0
  for (const node of selections) {
    if (node.kind === 'InlineFragment') sum += costOf(context, node.selectionSet, type, known)
    else if (node.kind === 'FragmentSpread') sum += costOfFragment(context, context.getFragment(node.name.value), type, known)
    else {
      const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined
      const weight = field ? Number(directiveOf(field, 'cost')?.weight ?? 1) : 1
      const items = field ? Number(directiveOf(field, 'listSize')?.assumedSize ?? 1) : 1
      const inner = field && node.selectionSet ? costOf(context, node.selectionSet, getNamedType(field.type), known) : 0
      sum += weight + items * inner
    }
  }
  return Math.min(sum, Number.MAX_SAFE_INTEGER)
}

function costOfFragment(
  context: ValidationContext,
  fragment: FragmentDefinitionNode | null | undefined,
  type: GraphQLNamedType,
  known: Map<FragmentDefinitionNode, number>,
): number {
  if (!fragment) return 0
  const found = known.get(fragment)
  if (found !== undefined) return found
  // A fragment costs 0 while its cost is computed, so that a cycle terminates; another rule refuses the cycle.
  known.set(fragment, 0)
  const cost = costOf(context, fragment.selectionSet, type, known)
  known.set(fragment, cost)
  return cost
}
