/** The interval at which a silent event stream gets a comment, in milliseconds. */
export const COMMENT_MS = 3_000
/** A comment of `text/event-stream`, which clients ignore. */
export const COMMENT = new TextEncoder().encode(':\n\n')

/** Whether comments may be written into a response: an event stream without compression and without a declared length. */
export function takesComments(headers: readonly (readonly [string, string])[]): boolean {
  const textOf = (wanted: string) =>
    headers
      .find(([name]) => name.toLowerCase() === wanted)?.[1]
      .trim()
      .toLowerCase()
  const isPlain = textOf('content-length') === undefined && (textOf('content-encoding') ?? 'identity') === 'identity'
  return isPlain && /^text\/event-stream(?:$|[\s;])/.test(textOf('content-type') ?? '')
}

const [LF, CR] = [10, 13]

/**
 * Finds where a comment may be written into an event stream: before the first event or after the empty line that ends one, if nothing was
 * received since the last check.
 */
export class EventGap {
  /** The last bytes received; four are enough to recognize an empty line. */
  private tail: number[] = [LF, LF]
  private hasMoved = false

  take(bytes: Uint8Array): void {
    this.hasMoved = true
    this.tail = [...this.tail, ...bytes.subarray(-4)].slice(-4)
  }

  /** Whether nothing was received since the last call, and the last event is complete. */
  isSilent(): boolean {
    const hadMoved = this.hasMoved
    this.hasMoved = false
    const [c, d] = this.tail.slice(-2)
    const isEmptyLine = (d === LF && c === LF) || (d === CR && c === CR)
    return !hadMoved && (isEmptyLine || (d === LF && c === CR && [LF, CR].includes(this.tail.at(-3) ?? 0)))
  }
}
