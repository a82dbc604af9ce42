/** Quotes `text` as one argument of a POSIX shell, in single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
