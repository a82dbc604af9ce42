import { type DocumentNode, GraphQLError, Kind, parse, type SelectionSetNode, visit } from 'graphql'
import { refuseNesting } from './nesting.ts'

/** Limits of a document (GQL-24). Typical documents use a tenth of them; the standard introspection query has 15 levels and 190 fields. */
export const LIMITS = { tokens: 10_000, depth: 20, fields: 1_000, aliases: 50, directives: 50, rootFields: 50 } as const

/**
 * Parses a document and refuses an expensive one before anything else processes it (GQL-24). Depth and fields are counted with fragments
 * expanded. Throws a `GraphQLError` that the client sees.
 */
export function readDocument(text: string): DocumentNode {
  refuseNesting(text, LIMITS.tokens)
  const document = parse(text, { maxTokens: LIMITS.tokens })
  const seen = countNodes(document)
  const { depth, fields } = expand(document)
  for (const [name, found] of Object.entries({ ...seen, depth, fields }) as [keyof typeof LIMITS, number][]) {
    if (found > LIMITS[name]) throw new GraphQLError(`the document has more than ${LIMITS[name]} ${LABELS[name]}; request less at once`)
  }
  return withoutIds(document)
}

const LABELS = {
  tokens: 'tokens',
  depth: 'levels',
  fields: 'fields',
  aliases: 'aliases',
  directives: 'directives',
  rootFields: 'fields at its root',
} as const

function countNodes(document: DocumentNode): { aliases: number; directives: number; rootFields: number } {
  const seen = { aliases: 0, directives: 0, rootFields: 0 }
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) seen.rootFields += definition.selectionSet.selections.length
  }
  visit(document, {
    Field: (node) => {
      if (node.alias) seen.aliases += 1
    },
    Directive: () => {
      seen.directives += 1
    },
  })
  return seen
}

interface Extent {
  depth: number
  fields: number
}

const NOTHING: Extent = { depth: 0, fields: 0 }

/**
 * Computes the depth and the number of fields of all operations. Each fragment is expanded once; validation later refuses a fragment that
 * contains itself.
 */
function expand(document: DocumentNode): Extent {
  const bodies = new Map(document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])))
  const known = new Map<string, Extent>()
  const extentOf = ({ selections }: SelectionSetNode): Extent => {
    let [depth, fields] = [0, 0]
    for (const node of selections) {
      const inner =
        node.kind === Kind.FRAGMENT_SPREAD ? fragmentOf(node.name.value) : node.selectionSet ? extentOf(node.selectionSet) : NOTHING
      const own = node.kind === Kind.FIELD ? 1 : 0
      depth = Math.max(depth, inner.depth + own)
      fields = Math.min(Number.MAX_SAFE_INTEGER, fields + inner.fields + own)
    }
    return { depth, fields }
  }
  const fragmentOf = (name: string): Extent => {
    const found = known.get(name)
    if (found) return found
    // A fragment counts as empty while it is expanded, so that a cycle terminates.
    known.set(name, NOTHING)
    const body = bodies.get(name)
    const extent = body ? extentOf(body.selectionSet) : NOTHING
    known.set(name, extent)
    return extent
  }
  const operations = document.definitions.flatMap((one) => (one.kind === Kind.OPERATION_DEFINITION ? [extentOf(one.selectionSet)] : []))
  const spare = [...bodies.keys()].map(fragmentOf)
  return {
    depth: Math.max(0, ...operations.map(({ depth }) => depth), ...spare.map(({ depth }) => depth)),
    fields: operations.reduce((sum, one) => Math.min(Number.MAX_SAFE_INTEGER, sum + one.fields), 0),
  }
}

/** Replaces the type `ID` of variables by `String`: ids are strings in this schema, and some clients declare them as `ID` (GQL-12). */
function withoutIds(document: DocumentNode): DocumentNode {
  return visit(document, {
    VariableDefinition: {
      enter: (node) =>
        visit(node, { NamedType: (type) => (type.name.value === 'ID' ? { ...type, name: { ...type.name, value: 'String' } } : undefined) }),
    },
  })
}
