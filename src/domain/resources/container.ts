/**
 * User ids by the names of the secrets that they granted to the variables (CAP-10). An empty user id: granted under a plane version without
 * grants (CAP-12).
 */
export type SecretGrants = Readonly<Record<string, string>>

/** Settings of a container, as stored in D1. */
export interface ContainerSpec {
  image: string
  /** Stored form (CON-1): a shell string, or compact JSON `{"entrypoint":[…],"cmd":[…]}`, or empty. */
  args: string
  diskGb: number
  env: Record<string, string>
  ports: string[]
  registry: string | null
  /** Secrets that `env` may name (CAP-10). Absent: none. */
  secretGrants?: SecretGrants
}

/** A container's command in exec form. */
export interface Command {
  entrypoint: string[]
  cmd: string[]
}

/** Fields with which a request may describe the command. An absent field leaves its part unchanged. */
export interface CommandPatch {
  args?: string | undefined
  cmd?: string[] | undefined
  entrypoint?: string[] | undefined
}

/**
 * Exec form of stored `args` (CON-1): parsed from a JSON object with only `entrypoint` and/or `cmd`; any other text is a shell string that
 * becomes `cmd`.
 */
export function decodeArgs(args: string): Command {
  return decodeJsonArgs(args) ?? { entrypoint: [], cmd: splitWords(args) }
}

/** Stored form of a command (CON-2): compact JSON, `entrypoint` before `cmd`, without empty parts; an empty command is `""`. */
export function encodeArgs({ entrypoint, cmd }: Command): string {
  if (entrypoint.length === 0 && cmd.length === 0) return ''
  return JSON.stringify({ ...(entrypoint.length > 0 && { entrypoint }), ...(cmd.length > 0 && { cmd }) })
}

/**
 * Stored `args` after a request, or null when the request's fields contradict each other (CON-3). `cmd: []` and `entrypoint: []` clear
 * their own part; an absent part stays as in `current` (CON-4).
 */
export function mergeArgs(current: string, patch: CommandPatch): string | null {
  if (patch.cmd === undefined && patch.entrypoint === undefined) return patch.args ?? current
  const before = decodeArgs(current)
  const named = { entrypoint: patch.entrypoint ?? before.entrypoint, cmd: patch.cmd ?? before.cmd }
  if (patch.args === undefined) return encodeArgs(named)
  return sameCommand(decodeArgs(patch.args), named) ? patch.args : null
}

/** Splits a shell string into words as POSIX sh does: quotes and backslash, no expansion. An unclosed quote ends with the text. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index)
    const next = text.charAt(index + 1)
    if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (quote === null && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (char === quote) {
      quote = null
    } else if (char === '\\' && next !== '' && escapes(quote, next)) {
      // A backslash before a line break joins the lines: both characters are removed.
      word = (word ?? '') + (next === '\n' ? '' : next)
      index += 1
    } else {
      word = (word ?? '') + char
    }
  }
  if (word !== null) words.push(word)
  return words
}

function escapes(quote: '"' | "'" | null, next: string): boolean {
  if (quote === "'") return false
  return quote === null || '$`"\\\n'.includes(next)
}

function decodeJsonArgs(args: string): Command | null {
  if (!args.trimStart().startsWith('{')) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(args)
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null) return null
  const members = Object.entries(parsed)
  const known = members.length > 0 && members.every(([key, value]) => (key === 'entrypoint' || key === 'cmd') && isWordList(value))
  if (!known) return null
  const { entrypoint = [], cmd = [] } = parsed as Partial<Command>
  return { entrypoint, cmd }
}

function isWordList(value: unknown): boolean {
  return Array.isArray(value) && value.every((word) => typeof word === 'string')
}

function sameCommand(a: Command, b: Command): boolean {
  return sameWords(a.entrypoint, b.entrypoint) && sameWords(a.cmd, b.cmd)
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

/** A user's environment variables without the names reserved for the platform (ENV-4). */
export function withoutPlatformNames(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('RUNPOD_')))
}
