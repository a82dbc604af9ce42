/** How often events that are silent get a comment. */
export const COMMENT_MS = 3_000
/** A comment of `text/event-stream`, which every reader of events passes over. */
export const COMMENT = new TextEncoder().encode(':\n\n')

/** Whether a comment may be written between the events of an answer: plain ones, of no announced length. */
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

/** Knows where a comment may stand in events: before the first and behind the empty line of each, where nothing came since it was last asked. */
export class EventGap {
  /** The last bytes that came: at most four of them tell an empty line. */
  private tail: number[] = [LF, LF]
  private hasMoved = false

  take(bytes: Uint8Array): void {
    this.hasMoved = true
    this.tail = [...this.tail, ...bytes.subarray(-4)].slice(-4)
  }

  /** Whether nothing came since this was last asked, and what came before is whole. */
  isSilent(): boolean {
    const hadMoved = this.hasMoved
    this.hasMoved = false
    const [c, d] = this.tail.slice(-2)
    const isEmptyLine = (d === LF && c === LF) || (d === CR && c === CR)
    return !hadMoved && (isEmptyLine || (d === LF && c === CR && [LF, CR].includes(this.tail.at(-3) ?? 0)))
  }
}
