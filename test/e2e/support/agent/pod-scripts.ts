/** Programs of test pods, for the shell of busybox, which end at once on SIGTERM. */

const ON_STOP = "trap 'echo told to stop; exit 0' TERM"
const STAY = 'while :; do busybox sleep 1 & wait $!; done'

/** Prints a greeting and stays until it is stopped. */
export const STAY_SCRIPT = `${ON_STOP}; echo "hello $GREETING"; ${STAY}`

/** Writes `line 1` … `line <count>`, one every `everyMs` or a little later, and then stays, or ends with `exitCode`. */
export function countScript({ count, everyMs, exitCode }: { count: number; everyMs: number; exitCode?: number }): string {
  const pause = `busybox usleep ${everyMs * 1_000}`
  const end = exitCode === undefined ? STAY : `exit ${exitCode}`
  return `${ON_STOP}; i=1; while [ $i -le ${count} ]; do echo "line $i"; i=$((i+1)); ${pause}; done; ${end}`
}

/** The numbers of the lines that `countScript` wrote. */
export function numbersIn(lines: readonly string[]): number[] {
  return lines.flatMap((line) => (/^line \d+$/.test(line) ? [Number(line.slice('line '.length))] : []))
}

/** 1 … count. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
