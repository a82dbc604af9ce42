import { GraphQLScalarType, Kind } from 'graphql'
import { createSchema, createYoga, type Plugin, renderGraphiQL } from 'graphql-yoga'
import { GRAPHQL_SCHEMA } from '../../contract/graphql/schema.ts'
import { endsOnly, guardFields } from './access.ts'
import { answerOf } from './answer.ts'
import type { Call } from './call.ts'
import { boundedCost } from './guards/cost.ts'
import { readDocument } from './guards/document.ts'
import { readParams } from './params.ts'
import { RESOLVERS } from './resolvers/resolvers.ts'

/** A word, as an enum inline and as a text in variables; empty: nothing is said (GQL-16). */
const FlashBootType = new GraphQLScalarType({
  name: 'FlashBootType',
  parseValue: (value) => value,
  parseLiteral: (node) => (node.kind === Kind.ENUM || node.kind === Kind.STRING ? node.value : null),
})

/** The schema with its resolvers, each behind what the schema says of its field. */
export function executableSchema() {
  // biome-ignore lint/suspicious/noExplicitAny: the library's types of resolvers know nothing of this schema
  const resolvers = { ...RESOLVERS, FlashBootType } as any
  return guardFields(createSchema({ typeDefs: GRAPHQL_SCHEMA, resolvers }))
}

const guards: Plugin = {
  onParse: ({ params, setParsedDocument }) => setParsedDocument(readDocument(String(params.source))),
  onValidate: ({ addValidationRule }) => addValidationRule(boundedCost),
  onResultProcess: ({ serverContext, setResultProcessor }) => {
    // What `runDocument` hands over, which the library's type of a plugin does not carry.
    const { ctx } = serverContext as unknown as Call
    // A result of any kind, streams too, which this schema has none of; a response in place of one is what a processor may give.
    setResultProcessor((result) => answerOf(result as never, ctx.requestId), 'application/json')
  },
}

const schema = executableSchema()

const yoga = createYoga<Call>({
  schema,
  plugins: [guards],
  // What was asked is not remembered: documents hold passwords (GQL-26).
  parserAndValidationCache: false,
  batching: false,
  multipart: false,
  cors: false,
  graphiql: false,
  landingPage: false,
  logging: false,
  // Faults are hidden by `answerOf`, which knows which they are.
  maskedErrors: false,
})

/** A page that edits and runs documents. */
export function editorPage(): string {
  return renderGraphiQL({ title: 'podplane GraphQL', endpoint: '/graphql' })
}

/** Whether the document of a body does nothing but end things (CAP-3). One that cannot be read does not. */
export function endsThings(type: string | undefined, text: string): boolean {
  try {
    const { query, operationName } = readParams(type, text)
    return endsOnly(schema, readDocument(query), operationName)
  } catch {
    return false
  }
}

/** Runs a document that the transport has let in. */
export async function runDocument(url: string, params: object, call: Call): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return yoga.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(params) }), call)
}
