import type { ShownLine } from './reading/lines.ts'

/** File name that every file system accepts. */
const nameOf = (title: string) => `${title.replaceAll(/[^\w-]+/g, '-')}.log`

/** Lines as text: time, worker (in a joined log), source, text without colors. */
export function linesText(lines: readonly ShownLine[]): string {
  return lines.map(({ ts, source, plain, place }) => `${[ts, place.workerId, source].filter(Boolean).join(' ')} ${plain}\n`).join('')
}

/** Downloads the lines of a view as a file. */
export function saveLines(title: string, lines: readonly ShownLine[]): void {
  const address = URL.createObjectURL(new Blob([linesText(lines)], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = nameOf(title)
  link.click()
  URL.revokeObjectURL(address)
}
