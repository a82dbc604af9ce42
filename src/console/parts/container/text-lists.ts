/** Lists and names with values as one types them. All pure; what cannot be read says which line it is. */

export type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string }

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** `NAME=value`, one a line; a value of several lines is written as a JSON string. */
export function readEnv(text: string): Read<Record<string, string>> {
  const value: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    const name = line.slice(0, at === -1 ? line.length : at).trim()
    if (at === -1 || !NAME.test(name)) return { ok: false, problem: `Line ${index + 1}: want NAME=value.` }
    value[name] = unquoted(line.slice(at + 1))
  }
  return { ok: true, value }
}

export function writeEnv(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${needsQuotes(value) ? JSON.stringify(value) : value}`)
    .join('\n')
}

/** `8888/http, 22/tcp`; a bare number is one of HTTP. */
export function readPorts(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => (/^\d+$/.test(word) ? `${word}/http` : word))
}

/** Names with commas between them. */
export function readNames(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

/** A whole number; undefined of nothing. What is none goes to the plane as it is, which says what it wants. */
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
