/** Parsers of lists and `NAME=value` lines in form text. All pure; an error names the line. */

/** Parsed form text, or the problem that is shown to the user. */
export type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string }

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** `NAME=value`, one per line; a value with several lines is written as a JSON string. */
export function readEnv(text: string): Read<Record<string, string>> {
  const value: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    const name = line.slice(0, at === -1 ? line.length : at).trim()
    if (at === -1 || !NAME.test(name)) return { ok: false, problem: `Line ${index + 1}: enter NAME=value.` }
    value[name] = unquoted(line.slice(at + 1))
  }
  return { ok: true, value }
}

/** Writes variables as `readEnv` reads them. */
export function writeEnv(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${needsQuotes(value) ? JSON.stringify(value) : value}`)
    .join('\n')
}

/** `8888/http, 22/tcp`; a bare number is an HTTP port. */
export function readPorts(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => (/^\d+$/.test(word) ? `${word}/http` : word))
}

/** Comma-separated names. */
export function readNames(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

/** `key=value`, comma-separated; the plane refuses those of another form. A word without `=` is a key with an empty value. */
export function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    splitLabels(text).map((word) => {
      const [key = '', ...value] = word.split('=')
      return [key, value.join('=')]
    }),
  )
}

/** Writes labels as `readLabels` reads them. */
export function writeLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map((label) => label.join('='))
    .join(', ')
}

/** Number in a text; undefined for empty text. Other text becomes NaN, which the plane refuses with the expected format. */
export function readNumber(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text)
}

function needsQuotes(value: string): boolean {
  return /[\n\r]/.test(value) || value.startsWith('"')
}

function unquoted(text: string): string {
  if (!(text.startsWith('"') && text.endsWith('"'))) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : text
  } catch {
    return text
  }
}

/** Labels or keys of a filter, separated by commas or spaces. */
export function splitLabels(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}
