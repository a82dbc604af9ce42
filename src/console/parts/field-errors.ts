import { ApiError } from '../../client/client.ts'

export interface FieldErrors {
  /** What the plane said of a member, by its path such as `gpu.count`. */
  of: (path: string) => string | undefined
  /** What it said of nothing in particular, or of members that the form does not show. */
  others: (shown: readonly string[]) => string[]
}

const NONE: FieldErrors = { of: () => undefined, others: () => [] }

/** Puts the plane's refusal of a body beside the fields that it names; the lines read `path: what is wrong`. */
export function fieldErrors(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return NONE
  const lines = error.errors.map((line) => {
    const [, path = '', words = line] = line.match(/^(?:body\.)?([\w.[\]-]+): (.*)$/s) ?? []
    return { path, words, line }
  })
  return {
    of: (path) => lines.find((line) => line.path === path || line.path.startsWith(`${path}.`) || line.path.startsWith(`${path}[`))?.words,
    others: (shown) =>
      lines
        .filter(({ path }) => !shown.some((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)))
        .map(({ line }) => line),
  }
}
