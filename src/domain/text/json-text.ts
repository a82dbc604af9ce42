/**
 * Reading JSON without re-writing it: a job's input and output are stored and forwarded as the text that came, because parsing and
 * printing again would change numbers (1.0, 12345678901234567890) and cost time on large payloads.
 */

export type JsonObjectText = Map<string, string>

/**
 * The members of a top-level JSON object as raw text, or null when the text is not a JSON object. A repeated name keeps its last value,
 * as JSON.parse does.
 */
export function jsonMembers(text: string): JsonObjectText | null {
  const value = tryParse(text)
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return null
  return scanMembers(text)
}

/** The elements of a top-level JSON array as raw text, or null when the text is not a JSON array. */
export function jsonElements(text: string): string[] | null {
  // The first character decides cheaply: most texts asked about are large objects.
  if (text[skipSpace(text, 0)] !== '[' || tryParse(text) === undefined) return null
  const elements: string[] = []
  let i = skipSpace(text, skipSpace(text, 0) + 1)
  while (text[i] !== ']') {
    const end = skipValue(text, i)
    elements.push(text.slice(i, end))
    i = skipSpace(text, end)
    if (text[i] === ',') i = skipSpace(text, i + 1)
  }
  return elements
}

/** WRK-5: Python writes NaN, Infinity and -Infinity; outside strings they are read as null. Valid JSON is returned unchanged. */
export function repairPythonJson(text: string): string {
  if (tryParse(text) !== undefined) return text
  // Piece by piece, strings left alone: one expression over all of it runs out of stack on large texts.
  const pieces: string[] = []
  let i = 0
  while (i < text.length) {
    const quote = text.indexOf('"', i)
    const end = quote === -1 ? text.length : quote
    pieces.push(text.slice(i, end).replace(/-?\bInfinity\b|\bNaN\b/g, 'null'))
    if (quote === -1) break
    i = skipString(text, quote)
    pieces.push(text.slice(quote, i))
  }
  return pieces.join('')
}

/** JSON.parse that answers undefined instead of throwing. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Only called on text that JSON.parse has accepted, so it only has to find borders, not errors.
function scanMembers(text: string): JsonObjectText {
  const members: JsonObjectText = new Map()
  let i = skipSpace(text, 0) + 1
  for (;;) {
    i = skipSpace(text, i)
    if (text[i] === '}') return members
    if (text[i] === ',') {
      i = skipSpace(text, i + 1)
    }
    const nameEnd = skipString(text, i)
    const name: string = JSON.parse(text.slice(i, nameEnd))
    i = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = skipValue(text, i)
    members.set(name, text.slice(i, end))
    i = end
  }
}

function skipSpace(text: string, from: number): number {
  let i = from
  while (i < text.length) {
    const c = text.charCodeAt(i)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) break
    i++
  }
  return i
}

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
