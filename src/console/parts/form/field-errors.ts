import { ApiError } from '../../../client/client.ts'

export interface FieldErrors {
  /** What the plane said of a member, by its path such as `gpu.count`. */
  of: (path: string) => string | undefined
  /** What it said of nothing in particular, or of members that the form does not show. */
  others: (shown: readonly string[]) => string[]
}

interface Said {
  path: string
  words: string
  line: string
}

export const NO_ERRORS: FieldErrors = { of: () => undefined, others: () => [] }

/** Puts the plane's refusal of a body beside the fields that it names; the lines read `$.path: what is wrong`. */
export function fieldErrors(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return NO_ERRORS
  const lines = error.errors.map(read)
  return {
    of: (path) => lines.find((said) => isOf(said, path))?.words,
    others: (shown) => lines.filter((said) => !shown.some((name) => isOf(said, name))).map(({ line }) => line),
  }
}

/** A member that is missing is told by the object that lacks it: the words belong beside the member. */
function read(line: string): Said {
  const [, path = '', words = line] = line.match(/^(?:\$\.?|body\.)?([\w.[\]-]*): (.*)$/s) ?? []
  const missing = words.match(/^missing property '([\w-]+)'$/)?.[1]
  if (missing === undefined) return { path, words, line }
  return { path: path === '' ? missing : `${path}.${missing}`, words: 'This is required.', line }
}

function isOf({ path }: Said, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)
}
