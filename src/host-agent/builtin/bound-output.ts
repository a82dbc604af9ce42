import { copyFileSync, fstatSync, ftruncateSync, renameSync, rmSync } from 'node:fs'

/** A file of output is rotated above this, bytes; the one before it is kept. */
const OUTPUT_MAX_BYTES = 2 ** 20
const CHECK_MS = 1_000
const STDOUT = 1

/** The kept file: `output.3.log` once `output.log` was rotated for the fourth time. */
export function rotatedPath(path: string, generation: number): string {
  return path.replace(/\.log$/, `.${generation}.log`)
}

/** The number in the name of a rotated file. */
export function rotatedNumber(name: string): number | undefined {
  const number = /^output\.(\d+)\.log$/.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/**
 * Keeps the output of this very process small. It does so itself: it is the only writer of the file, so nothing can be written between the
 * copy and the cut, and it goes on when no agent is there.
 */
export function boundOutput(path: string, maxBytes = OUTPUT_MAX_BYTES, checkMs = CHECK_MS): void {
  let generation = 0
  const timer = setInterval(() => {
    if (fstatSync(STDOUT).size <= maxBytes) return
    rotate(path, generation)
    generation += 1
  }, checkMs)
  timer.unref()
}

function rotate(path: string, generation: number): void {
  copyFileSync(path, `${path}.draft`)
  renameSync(`${path}.draft`, rotatedPath(path, generation))
  ftruncateSync(STDOUT)
  rmSync(rotatedPath(path, generation - 1), { force: true })
}
