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

/** An enum value, written as an enum inline and as a string in variables; empty means unset (GQL-16). */
const FlashBootType = new GraphQLScalarType({
  name: 'FlashBootType',
  parseValue: (value) => value,
  parseLiteral: (node) => (node.kind === Kind.ENUM || node.kind === Kind.STRING ? node.value : null),
})

/** Returns the schema with its resolvers, each behind the access rules of its field. */
export function executableSchema() {
  // biome-ignore lint/suspicious/noExplicitAny: the library's types of resolvers know nothing of this schema
  const resolvers = { ...RESOLVERS, FlashBootType } as any
  return guardFields(createSchema({ typeDefs: GRAPHQL_SCHEMA, resolvers }))
}

const guards: Plugin = {
  onParse: ({ params, setParsedDocument }) => setParsedDocument(readDocument(String(params.source))),
  onValidate: ({ addValidationRule }) => addValidationRule(boundedCost),
  onResultProcess: ({ serverContext, setResultProcessor }) => {
    // `runDocument` passes a `Call`, which the library's type of a plugin does not carry.
    const { ctx } = serverContext as unknown as Call
    // The result may also be a stream, which this schema never produces. A result processor may return a response.
    setResultProcessor((result) => answerOf(result as never, ctx.requestId), 'application/json')
  },
}

const schema = executableSchema()

const yoga = createYoga<Call>({
  schema,
  plugins: [guards],
  // Documents are not cached, because they may hold passwords (GQL-26).
  parserAndValidationCache: false,
  batching: false,
  multipart: false,
  cors: false,
  graphiql: false,
  landingPage: false,
  logging: false,
  // `answerOf` masks errors, because it knows which are server errors.
  maskedErrors: false,
})

/** The HTML page of the GraphiQL editor. */
export function editorPage(): string {
  return renderGraphiQL({ title: 'podplane GraphQL', endpoint: '/graphql' })
}

/** Whether a body's document contains nothing but mutations that end something (CAP-3); false if it cannot be parsed. */
export function endsThings(type: string | undefined, text: string): boolean {
  try {
    const { query, operationName } = readParams(type, text)
    return endsOnly(schema, readDocument(query), operationName)
  } catch {
    return false
  }
}

/** Executes a document that has passed the checks of the transport. */
export async function runDocument(url: string, params: object, call: Call): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return yoga.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(params) }), call)
}
