import { type DocumentNode, GraphQLError, Kind, parse, type SelectionSetNode, visit } from 'graphql'
import { refuseNesting } from './nesting.ts'

/** What a document may have (GQL-24). Real ones have a tenth of it, the standard introspection query 15 levels and 190 fields. */
export const LIMITS = { tokens: 10_000, depth: 20, fields: 1_000, aliases: 50, directives: 50, rootFields: 50 } as const

/**
 * Reads a document and refuses one that would cost much before anything else looks at it (GQL-24): its depth and fields are counted with its
 * fragments spelled out. Throws what is told to the client.
 */
export function readDocument(text: string): DocumentNode {
  refuseNesting(text, LIMITS.tokens)
  const document = parse(text, { maxTokens: LIMITS.tokens })
  const seen = countNodes(document)
  const { depth, fields } = expand(document)
  for (const [name, found] of Object.entries({ ...seen, depth, fields }) as [keyof typeof LIMITS, number][]) {
    if (found > LIMITS[name]) throw new GraphQLError(`the document has more than ${LIMITS[name]} ${WORDS[name]}; ask for less at once`)
  }
  return withoutIds(document)
}

const WORDS = {
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

/** How deep and how large the operations are. Each fragment is looked at once; one that names itself is refused later, by validation. */
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
    // While it is looked at it counts as empty, so that a circle ends.
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

/** Ids are texts here; clients that declare a variable as ID mean the same (GQL-12). */
function withoutIds(document: DocumentNode): DocumentNode {
  return visit(document, {
    VariableDefinition: {
      enter: (node) =>
        visit(node, { NamedType: (type) => (type.name.value === 'ID' ? { ...type, name: { ...type.name, value: 'String' } } : undefined) }),
    },
  })
}
