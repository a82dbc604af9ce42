import type { ShownLine } from './reading/lines.ts'

/** A name that every file system takes. */
const nameOf = (title: string) => `${title.replaceAll(/[^\w-]+/g, '-')}.log`

/** Lines as a file: time, worker where there are several, source, text without colours. */
export function linesText(lines: readonly ShownLine[]): string {
  return lines.map(({ ts, source, plain, place }) => `${[ts, place.workerId, source].filter(Boolean).join(' ')} ${plain}\n`).join('')
}

/** Gives the browser the lines of a view as a file. */
export function saveLines(title: string, lines: readonly ShownLine[]): void {
  const address = URL.createObjectURL(new Blob([linesText(lines)], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = nameOf(title)
  link.click()
  URL.revokeObjectURL(address)
}
