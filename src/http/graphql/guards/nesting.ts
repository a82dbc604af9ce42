import { GraphQLError, Lexer, Source, TokenKind } from 'graphql'

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])
/** Deepest nesting of brackets in a document: 20 levels of fields, and inputs a few levels deeper. */
export const MAX_NESTING = 64

/**
 * Refuses deeply nested brackets before the document is parsed (GQL-70): a recursive parser would overflow its stack. Throws a
 * `GraphQLError` that the client sees, also for a text without valid tokens.
 */
export function refuseNesting(text: string, maxTokens: number): void {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  for (let count = 0; count < maxTokens && lexer.advance().kind !== TokenKind.EOF; count += 1) {
    if (OPENING.has(lexer.token.kind)) depth += 1
    else if (CLOSING.has(lexer.token.kind)) depth -= 1
    if (depth > MAX_NESTING) throw new GraphQLError(`the document has more than ${MAX_NESTING} nested brackets; request less at once`)
  }
}
