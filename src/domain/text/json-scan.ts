/**
 * One pass over a text that checks whether it is JSON and finds the members of its outermost object. `JSON.parse` would build every value:
 * ten megabytes of small members cost it a second and a gigabyte, on a thread that all requests share.
 */

/** Maximum nesting depth. Deeper texts would overflow the stack of a recursive parser. */
export const MAX_JSON_DEPTH = 5_000
/** Maximum number of members of the outermost object of a request (RUN-14). */
export const MAX_JSON_MEMBERS = 64

/** The outermost value of a JSON text. */
export interface JsonShape {
  kind: 'object' | 'array' | 'scalar'
  /** Number of members of the outermost object; a repeated name counts each time. */
  count: number
}

/** Called for each member of the outermost object with the positions of its name, including the quotes, and of its value. */
export type OnMember = (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const BACKSLASH = 92
const OPEN_BRACE = 123
/** Difference between the codes of an opening bracket or brace and its closing one. */
const TO_CLOSING = 2
const FIRST_PRINTABLE = 32
const ESCAPES = '"\\/bfnrtu'
const FOUR_HEX = /[\da-fA-F]{4}/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERALS = ['true', 'false', 'null']
const NO_MATCH = -1

/**
 * Shape of a JSON text; null when it is not JSON or nests deeper than `MAX_JSON_DEPTH`. The scan of an object ends at the first member
 * beyond `mostMembers`; the rest is not checked.
 */
export function scanJson(text: string, onMember?: OnMember, mostMembers = Number.POSITIVE_INFINITY): JsonShape | null {
  return new Scan(text, onMember).run(mostMembers)
}

class Scan {
  private readonly text: string
  private readonly onMember: OnMember | undefined
  /** Brackets and braces that are open. */
  private readonly open: number[] = []
  private at: number
  private count = 0
  private nameStart = 0
  private nameEnd = 0
  private valueStart = 0

  constructor(text: string, onMember: OnMember | undefined) {
    this.text = text
    this.onMember = onMember
    this.at = skipSpace(text, 0)
  }

  run(mostMembers: number): JsonShape | null {
    const first = this.text.charCodeAt(this.at)
    do {
      const isInObject = this.open.at(-1) === OPEN_BRACE
      if (isInObject && !this.name()) return null
      if (this.count > mostMembers) return { kind: 'object', count: this.count }
      const value = this.value()
      if (value === 'fault' || (value === 'whole' && !this.toNext())) return null
    } while (this.open.length > 0)
    if (skipSpace(this.text, this.at) !== this.text.length) return null
    return { kind: kindOf(first), count: this.count }
  }

  private name(): boolean {
    const start = this.at
    const end = this.text.charCodeAt(start) === QUOTE ? skipString(this.text, start) : NO_MATCH
    if (end === NO_MATCH) return false
    const colon = skipSpace(this.text, end)
    if (this.text.charCodeAt(colon) !== COLON) return false
    this.at = skipSpace(this.text, colon + 1)
    if (this.open.length > 1) return true
    this.count += 1
    this.nameStart = start
    this.nameEnd = end
    this.valueStart = this.at
    return true
  }

  /** Skips a value without members, or the opening bracket of one with members. */
  private value(): 'whole' | 'opened' | 'fault' {
    const { text, at } = this
    const code = text.charCodeAt(at)
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) {
      this.at = code === QUOTE ? skipString(text, at) : skipScalar(text, at)
      return this.at === NO_MATCH ? 'fault' : 'whole'
    }
    if (this.open.length === MAX_JSON_DEPTH) return 'fault'
    this.at = skipSpace(text, at + 1)
    if (text.charCodeAt(this.at) === code + TO_CLOSING) {
      this.at += 1
      return 'whole'
    }
    this.open.push(code)
    return 'opened'
  }

  /** Called after a value: skips the closing brackets that follow, up to and including the comma before the next value. */
  private toNext(): boolean {
    for (let opening = this.open.at(-1); opening !== undefined; opening = this.open.at(-1)) {
      if (this.open.length === 1 && opening === OPEN_BRACE) this.onMember?.(this.nameStart, this.nameEnd, this.valueStart, this.at)
      this.at = skipSpace(this.text, this.at)
      const next = this.text.charCodeAt(this.at)
      this.at += 1
      if (next === COMMA) {
        this.at = skipSpace(this.text, this.at)
        return true
      }
      if (next !== opening + TO_CLOSING) return false
      this.open.pop()
    }
    return true
  }
}

function kindOf(first: number): JsonShape['kind'] {
  if (first === OPEN_BRACE) return 'object'
  return first === OPEN_BRACKET ? 'array' : 'scalar'
}

/** Position of the first character, from `from` on, that is not JSON whitespace. */
export function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at += 1
  }
}

/** End of the string that starts at `from`, or -1 when it is invalid. */
function skipString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < FIRST_PRINTABLE) return NO_MATCH
    if (code !== BACKSLASH) at += 1
    else {
      at = skipEscape(text, at)
      if (at === NO_MATCH) return NO_MATCH
    }
  }
  return NO_MATCH
}

function skipEscape(text: string, at: number): number {
  const kind = text.charAt(at + 1)
  if (kind === '' || !ESCAPES.includes(kind)) return NO_MATCH
  return kind === 'u' ? matchEnd(FOUR_HEX, text, at + 2) : at + 2
}

function skipScalar(text: string, at: number): number {
  const literal = LITERALS.find((word) => text.startsWith(word, at))
  return literal === undefined ? matchEnd(NUMBER, text, at) : at + literal.length
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : NO_MATCH
}
