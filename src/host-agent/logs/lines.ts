import { LOG_LINE_MAX_CHARS } from '../../host-protocol/logs.ts'

const NEWLINE = 0x0a

/**
 * Complete lines at the beginning of `data`, and the number of bytes that they take. A line longer than `maxBytes` is cut into pieces,
 * never inside a character; text after the last line break is left for the next call.
 */
export function splitLines(data: Buffer, maxBytes = LOG_LINE_MAX_CHARS): { lines: string[]; consumed: number } {
  const lines: string[] = []
  let start = 0
  for (;;) {
    const end = data.indexOf(NEWLINE, start)
    if (end >= 0 && end - start <= maxBytes) {
      lines.push(withoutReturn(data.toString('utf8', start, end)))
      start = end + 1
    } else if (data.length - start > maxBytes) {
      const cut = cutBefore(data, start, start + maxBytes)
      lines.push(data.toString('utf8', start, cut))
      start = cut
    } else {
      return { lines, consumed: start }
    }
  }
}

/** Last position at or before `end` where a character begins; UTF-8 continues with bytes 10xxxxxx, at most three. */
function cutBefore(data: Buffer, start: number, end: number): number {
  let cut = end
  while (cut > Math.max(start + 1, end - 3) && ((data[cut] ?? 0) & 0xc0) === 0x80) cut -= 1
  return cut
}

/** Removes the carriage return that Windows line ends and progress bars leave. */
export function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
