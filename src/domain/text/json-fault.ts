/** Place where a text stops being JSON: line and column from 1, and the character there; null at the end of the text. */
export interface JsonFault {
  line: number
  column: number
  found: string | null
}

/** Token that may come next. `value-or-end` and `name-or-end` occur only after an opening bracket. */
type Wanted = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing'
type Token = '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'scalar'

const SPACE = /[ \t\r\n]*/y
const TOKEN =
  /([{}[\],:])|("(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/uy

/**
 * First place where a text violates the grammar of JSON, or null when it is valid. The runtime's own messages give a position for some
 * faults only, and quote the text for others.
 */
export function jsonFault(text: string): JsonFault | null {
  const open: ('{' | '[')[] = []
  let wanted: Wanted = 'value'
  let at = 0
  for (;;) {
    at = endOf(SPACE, text, at)
    if (at === text.length) return wanted === 'nothing' ? null : faultAt(text, at)
    const end = endOf(TOKEN, text, at)
    const next: Wanted | null = end === at ? null : step(wanted, tokenOf(text, at), open)
    if (next === null) return faultAt(text, at)
    wanted = next
    at = end
  }
}

/** The fault as a readable text. */
export function describeJsonFault({ line, column, found }: JsonFault): string {
  return `line ${line}, column ${column}: unexpected ${found === null ? 'end' : JSON.stringify(found)}`
}

/** State after a token, or null where the token is not allowed. Brackets are pushed to and popped from `open`. */
function step(wanted: Wanted, token: Token, open: ('{' | '[')[]): Wanted | null {
  switch (token) {
    case '{':
    case '[':
      if (wanted !== 'value' && wanted !== 'value-or-end') return null
      open.push(token)
      return token === '{' ? 'name-or-end' : 'value-or-end'
    case '}':
      if (open.at(-1) !== '{' || (wanted !== 'name-or-end' && wanted !== 'comma-or-end')) return null
      return close(open)
    case ']':
      if (open.at(-1) !== '[' || (wanted !== 'value-or-end' && wanted !== 'comma-or-end')) return null
      return close(open)
    case ',':
      if (wanted !== 'comma-or-end') return null
      return open.at(-1) === '{' ? 'name' : 'value'
    case ':':
      return wanted === 'colon' ? 'value' : null
    case 'string':
      if (wanted === 'name' || wanted === 'name-or-end') return 'colon'
      return wanted === 'value' || wanted === 'value-or-end' ? afterValue(open) : null
    case 'scalar':
      return wanted === 'value' || wanted === 'value-or-end' ? afterValue(open) : null
  }
}

function close(open: ('{' | '[')[]): Wanted {
  open.pop()
  return afterValue(open)
}

function afterValue(open: readonly ('{' | '[')[]): Wanted {
  return open.length === 0 ? 'nothing' : 'comma-or-end'
}

function tokenOf(text: string, at: number): Token {
  const first = text[at] ?? ''
  if ('{}[],:'.includes(first)) return first as Token
  return first === '"' ? 'string' : 'scalar'
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function faultAt(text: string, at: number): JsonFault {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    line: before.split('\n').length,
    column: at - lineStart + 1,
    found: at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : null,
  }
}
