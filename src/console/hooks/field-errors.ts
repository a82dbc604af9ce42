import { ApiError } from '../../client/client.ts'

/** Errors of a refused request, by form field. */
export interface FieldErrors {
  /** Error for a field, by its path such as `gpu.count`. */
  of: (path: string) => string | undefined
  /** Errors without a field, or for fields that the form does not show. */
  others: (shown: readonly string[]) => string[]
}

interface Said {
  path: string
  text: string
  line: string
}

export const NO_ERRORS: FieldErrors = { of: () => undefined, others: () => [] }

/** Assigns the errors of a refused body to fields; each line reads `$.path: what is wrong`. */
export function fieldErrors(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return NO_ERRORS
  const lines = error.errors.map(read)
  return {
    of: (path) => lines.find((said) => isOf(said, path))?.text,
    others: (shown) => lines.filter((said) => !shown.some((name) => isOf(said, name))).map(({ line }) => line),
  }
}

/** The plane reports a missing field at its parent object; the error is shown at the field itself. */
function read(line: string): Said {
  const [, path = '', text = line] = line.match(/^(?:\$\.?|body\.)?([\w.[\]-]*): (.*)$/s) ?? []
  const missing = text.match(/^missing property '([\w-]+)'$/)?.[1]
  if (missing === undefined) return { path, text, line }
  return { path: path === '' ? missing : `${path}.${missing}`, text: 'This is required.', line }
}

function isOf({ path }: Said, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)
}
