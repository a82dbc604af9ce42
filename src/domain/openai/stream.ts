import { type OpenaiError, openaiErrorMember } from '../../contract/problem-body.ts'
import { jsonElements, jsonMembers } from '../text/json-text.ts'
import { eventText, PING } from '../text/sse.ts'

/**
 * What the client of a streamed answer has been sent so far. Workers cut their text at arbitrary places, so what may be added to it
 * depends on where it stands.
 */
export interface SentText {
  /** The start of the line that is not finished yet. */
  line: string
  /** The very end of the text. */
  end: string
  /** OAI-5: `[DONE]` was among it. */
  done: boolean
}

export const NOTHING_SENT: SentText = { line: '', end: '', done: false }

/** Enough of a line to tell `data: [DONE]` from any other. */
const LINE_START_CHARS = 64
/** As long as two line ends can be. */
const END_CHARS = 4
const DONE_LINE = /(?:^|[\r\n])data: ?\[DONE\]/

/**
 * OAI-5: the event text of one output, given as JSON text. A string is the worker's own text and stays as it is; an object, or each
 * element of an array, becomes an event.
 */
export function outputToEvents(output: string): string {
  if (output.startsWith('"')) return JSON.parse(output) as string
  if (output === 'null') return ''
  return (jsonElements(output) ?? [output])
    .map((element) => (element.startsWith('"') ? (JSON.parse(element) as string) : eventText(element)))
    .join('')
}

/** The JSON text of a stored chunk's output. */
export function chunkOutput(chunk: string): string {
  return jsonMembers(chunk, ['output'])?.get('output') ?? 'null'
}

/** What has been sent once `text` is sent too. */
export function noteSent(sent: SentText, text: string): SentText {
  const seen = sent.line + text
  const lastLineEnd = Math.max(seen.lastIndexOf('\n'), seen.lastIndexOf('\r'))
  return {
    line: seen.slice(lastLineEnd + 1, lastLineEnd + 1 + LINE_START_CHARS),
    end: (sent.end + text).slice(-END_CHARS),
    done: sent.done || DONE_LINE.test(seen),
  }
}

/** OAI-6: a keepalive comment, or null in the middle of an event, which a comment would break in two. */
export function pingText(sent: SentText): string | null {
  return isBetweenEvents(sent) ? PING : null
}

/** OAI-5: what ends a complete answer: `[DONE]`, unless the worker sent it. */
export function doneText(sent: SentText): string {
  return sent.done ? '' : `${closeEvent(sent)}${eventText('[DONE]')}`
}

/** OAI-7: what ends an answer that has begun and cannot be completed. */
export function brokenText(sent: SentText, error: OpenaiError): string {
  return `${closeEvent(sent)}${eventText(`{"error":${openaiErrorMember(error)}}`)}`
}

function closeEvent(sent: SentText): string {
  return isBetweenEvents(sent) ? '' : '\n\n'
}

function isBetweenEvents(sent: SentText): boolean {
  return sent.end === '' || sent.end.replace(/\r\n|\r/g, '\n').endsWith('\n\n')
}
