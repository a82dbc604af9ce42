import { type JsonShape, type OnMember, scanJson, skipSpace } from './json-scan.ts'

/**
 * Members of a JSON object by name, as raw text. A job's input and output are stored and forwarded as received, because parsing and
 * serializing would change numbers (1.0, 12345678901234567890) and cost time on large payloads.
 */

/** Members of an object by name, each as its JSON text. */
export type JsonObjectText = Map<string, string>

/** Maximum length of a quoted name that is decoded: every character written as an escape. */
const MAX_ESCAPED_NAME_CHARS = 256
/** Number of parts that are joined at a time. */
const MAX_PARTS = 8_192
const PART_CHARS = 32_768

/**
 * Named members of a top-level JSON object, as raw text; null when the text is not a JSON object or nests deeper than `MAX_JSON_DEPTH`. A
 * repeated name has its last value, as with JSON.parse. Other members are not stored (RUN-14).
 */
export function jsonMembers(text: string, names: readonly string[]): JsonObjectText | null {
  const members: JsonObjectText = new Map()
  return readJson(text, names, members)?.kind === 'object' ? members : null
}

/**
 * Shape of a JSON text; named members of an object are added to `members` as raw text. Null when it is not JSON. An object with more than
 * `mostMembers` members is not read further.
 */
export function readJson(text: string, names: readonly string[], members: JsonObjectText, mostMembers?: number): JsonShape | null {
  const take: OnMember = (nameStart, nameEnd, valueStart, valueEnd) => {
    const name = knownName(text, nameStart, nameEnd, names)
    if (name !== undefined) members.set(name, text.slice(valueStart, valueEnd))
  }
  return scanJson(text, take, mostMembers)
}

/** Whether a text is JSON that nests no deeper than `MAX_JSON_DEPTH`. */
export function isJson(text: string): boolean {
  return scanJson(text) !== null
}

/** Elements of a top-level JSON array as raw text, or null when the text is not a JSON array or has more than `most` elements. */
export function jsonElements(text: string, most = Number.POSITIVE_INFINITY): string[] | null {
  // Checking the first character is cheap and decides most cases, because most texts are large objects.
  if (text[skipSpace(text, 0)] !== '[' || !isJson(text)) return null
  const elements: string[] = []
  let i = skipSpace(text, skipSpace(text, 0) + 1)
  while (text[i] !== ']') {
    if (elements.length === most) return null
    const end = skipValue(text, i)
    elements.push(text.slice(i, end))
    i = skipSpace(text, end)
    if (text[i] === ',') i = skipSpace(text, i + 1)
  }
  return elements
}

/**
 * WRK-5: Python writes NaN, Infinity and -Infinity; outside strings they are replaced by null. Other text is returned unchanged after one
 * search, even one of millions of strings (WRK-48).
 */
export function repairPythonJson(text: string): string {
  const word = /\b(?:NaN|Infinity)\b/g
  const repaired = new TextInParts()
  let copied = 0
  let i = 0
  let quote = nextQuote(text, 0)
  for (let found = word.exec(text); found !== null; found = word.exec(text)) {
    while (quote < found.index) {
      i = skipString(text, quote)
      quote = nextQuote(text, i)
    }
    if (i <= found.index) {
      // Up to the next string at once, but in a long stretch only to a comma after `PART_CHARS` characters, so that intermediate results
      // are small. A comma ends every word.
      const comma = quote - i > PART_CHARS ? text.indexOf(',', i + PART_CHARS) : -1
      const end = comma === -1 ? quote : Math.min(quote, comma)
      repaired.add(text.slice(copied, i), replaceWords(text.slice(i, end)))
      copied = i = end
    }
    word.lastIndex = i
  }
  return copied === 0 ? text : repaired.text() + text.slice(copied)
}

// `replace` would build a tree of string parts, with nodes that are larger than the words.
function replaceWords(part: string): string {
  return part.split(/-?\b(?:Infinity|NaN)\b/).join('null')
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from)
  return at === -1 ? text.length : at
}

/** Builds a text from very many parts, of which at most `MAX_PARTS` are in memory at a time. */
class TextInParts {
  private whole = ''
  private parts: string[] = []

  add(...parts: string[]): void {
    this.parts.push(...parts)
    if (this.parts.length > MAX_PARTS) this.text()
  }

  text(): string {
    this.whole += this.parts.join('')
    this.parts = []
    return this.whole
  }
}

/** JSON.parse that returns undefined instead of throwing. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Name between two quotes, if it is one of `names`. Most names are not, so the comparison copies no text. */
function knownName(text: string, start: number, end: number, names: readonly string[]): string | undefined {
  const plain = names.find((name) => name.length === end - start - 2 && text.startsWith(name, start + 1))
  if (plain !== undefined || end - start > MAX_ESCAPED_NAME_CHARS) return plain
  const quoted = text.slice(start, end)
  if (!quoted.includes('\\')) return undefined
  const written: string = JSON.parse(quoted)
  return names.find((name) => name === written)
}

// Called only on valid JSON, so it finds boundaries and does not check for errors.
function skipString(text: string, from: number): number {
  let i = from + 1
  for (;;) {
    const quote = text.indexOf('"', i)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === 92) backslashes++
    i = quote + 1
    if (backslashes % 2 === 0) return i
  }
}

function skipValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return skipString(text, from)
  if (first !== '{' && first !== '[') {
    let i = from
    while (i < text.length && !',}] \n\r\t'.includes(text[i] ?? '')) i++
    return i
  }
  let depth = 0
  let i = from
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === 34) {
      i = skipString(text, i)
      continue
    }
    if (c === 123 || c === 91) depth++
    else if (c === 125 || c === 93) depth--
    i++
    if (depth === 0) return i
  }
}
