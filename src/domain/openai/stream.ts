import { type OpenaiError, openaiErrorMember } from '../../contract/problem-body.ts'
import { jsonElements, jsonMembers } from '../text/json-text.ts'
import { eventText, PING } from '../text/sse.ts'

/**
 * The end of the text that the client of a stream has been sent. Workers cut their text at arbitrary places, so the text that may be added
 * depends on whether an event is complete.
 */
export interface SentText {
  /** The start of the incomplete last line. */
  line: string
  /** The last characters of the text. */
  end: string
  /** OAI-5: the text contained `[DONE]`. */
  done: boolean
}

export const NOTHING_SENT: SentText = { line: '', end: '', done: false }

/** Enough of a line to distinguish `data: [DONE]` from others. */
const LINE_START_CHARS = 64
/** The length of two line ends. */
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

/** The state after `text` is sent too. */
export function noteSent(sent: SentText, text: string): SentText {
  const seen = sent.line + text
  const lastLineEnd = Math.max(seen.lastIndexOf('\n'), seen.lastIndexOf('\r'))
  return {
    line: seen.slice(lastLineEnd + 1, lastLineEnd + 1 + LINE_START_CHARS),
    end: (sent.end + text).slice(-END_CHARS),
    done: sent.done || DONE_LINE.test(seen),
  }
}

/** OAI-6: a keepalive comment; null inside an event, which a comment would split. */
export function pingText(sent: SentText): string | null {
  return isBetweenEvents(sent) ? PING : null
}

/** OAI-5: the end of a complete response: `[DONE]`, or an empty text if the worker has sent it. */
export function doneText(sent: SentText): string {
  return sent.done ? '' : `${closeEvent(sent)}${eventText('[DONE]')}`
}

/** OAI-7: the end of a response that has begun and cannot be completed: an event with the error. */
export function brokenText(sent: SentText, error: OpenaiError): string {
  return `${closeEvent(sent)}${eventText(`{"error":${openaiErrorMember(error)}}`)}`
}

function closeEvent(sent: SentText): string {
  return isBetweenEvents(sent) ? '' : '\n\n'
}

function isBetweenEvents(sent: SentText): boolean {
  return sent.end === '' || sent.end.replace(/\r\n|\r/g, '\n').endsWith('\n\n')
}
