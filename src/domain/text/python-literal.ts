import { tryParse } from './json-text.ts'

const LABELS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' }
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const QUOTED = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y
const WORD = /[A-Za-z_]\w*/y
const LAST_CODE_POINT = 0x10ffff

/**
 * Reads the text that Python prints for a dict, a list or a scalar, such as `{'message': "can't", 'code': None}`, which a worker sends that
 * converts its error to a string (OAI-7). Undefined when the text is anything else.
 */
export function readPythonLiteral(text: string): unknown {
  const pieces: string[] = []
  let i = 0
  while (i < text.length) {
    const first = text[i] ?? ''
    const isQuote = first === "'" || first === '"'
    const token = matchAt(isQuote ? QUOTED : WORD, text, i)
    // An unclosed quote ends the parse here: searching for its end again and again would take quadratic time.
    if (isQuote && token === null) return undefined
    pieces.push(
      isQuote && token !== null ? JSON.stringify(unescapeText(token.slice(1, -1))) : token === null ? first : (LABELS[token] ?? token),
    )
    i += token?.length ?? 1
  }
  return tryParse(pieces.join(''))
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

function unescapeText(text: string): string {
  return text.replace(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([\s\S]))/g,
    (whole, x?: string, u?: string, long?: string, one?: string) => {
      if (one !== undefined) return ESCAPES[one] ?? one
      const code = Number.parseInt(x ?? u ?? long ?? '', 16)
      return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : whole
    },
  )
}
