/** `text` as one argument of a POSIX shell, between single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
