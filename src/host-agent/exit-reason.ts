import { constants } from 'node:os'
import { redact } from './redact.ts'

/** Longest line of output that a reason quotes. */
export const OUTPUT_LINE_MAX_CHARS = 300
/** Lines of output that are searched for the line that explains a crash. */
export const OUTPUT_TAIL_LINES = 20

/** The facts about the end of a program from which its reason is written. */
export interface ExitFacts {
  exitCode: number | null
  signal: string | null
  outOfMemory: boolean
  /** The last lines of output, oldest first. */
  tail: readonly string[]
}

/** Text such as "exited with code 1: ModuleNotFoundError: …": the cause, then the most informative line of output. */
export function describeExit(facts: ExitFacts): string {
  const cause = causeOf(facts)
  const line = isFromOutside(facts) ? undefined : informativeLine(facts.tail)
  return line === undefined ? cause : `${cause}: ${line}`
}

/** Whether the program was ended by a signal from outside or exited with 0; its last output explains nothing then. */
function isFromOutside({ exitCode, signal }: ExitFacts): boolean {
  return exitCode === 0 || ['SIGTERM', 'SIGKILL'].includes(signal ?? signalOf(exitCode) ?? '')
}

function causeOf({ exitCode, signal, outOfMemory }: ExitFacts): string {
  const name = signal ?? signalOf(exitCode)
  if (outOfMemory) return `killed by signal ${name ?? 'SIGKILL'} (out of memory)`
  if (name !== undefined) return `killed by signal ${name}`
  return exitCode === null ? 'ended without an exit code' : `exited with code ${exitCode}`
}

/** Containers report a signal as 128 + its number. */
export function signalOf(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= 128) return undefined
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
}

/** The last informative line; stack frames and the version banner that Node prints below them are skipped. */
export function informativeLine(tail: readonly string[]): string | undefined {
  const isNoise = (line: string) => line === '' || /^(at .+|Node\.js v\d.*|[{}^~]+)$/.test(line)
  const line = tail
    .slice(-OUTPUT_TAIL_LINES)
    .map((text) => stripControl(text).trim())
    .findLast((text) => !isNoise(text))
  return line === undefined ? undefined : redact(line).slice(0, OUTPUT_LINE_MAX_CHARS)
}

function stripControl(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours and cursor moves must not reach a JSON reason
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
