import { copyFileSync, fstatSync, ftruncateSync, renameSync, rmSync } from 'node:fs'

/** Size above which an output file is rotated, bytes; one rotated file is retained. */
const OUTPUT_MAX_BYTES = 2 ** 20
const CHECK_MS = 1_000
const STDOUT = 1

/** Path of a rotated file; the fourth rotation of `output.log` makes `output.3.log`. */
export function rotatedPath(path: string, generation: number): string {
  return path.replace(/\.log$/, `.${generation}.log`)
}

/** The number in the name of a rotated file; undefined for any other name. */
export function rotatedNumber(name: string): number | undefined {
  const number = /^output\.(\d+)\.log$/.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/**
 * Bounds the output file of this process by rotating it. The process does this itself because it is the only writer: nothing is written
 * between the copy and the truncation, and the rotation works while no agent runs.
 */
export function boundOutput(path: string, maxBytes = OUTPUT_MAX_BYTES, checkMs = CHECK_MS): void {
  let generation = 0
  const timer = setInterval(() => {
    if (fstatSync(STDOUT).size <= maxBytes) return
    try {
      rotate(path, generation)
      generation += 1
    } catch {
      // The disk is full: the next check tries again.
    }
  }, checkMs)
  timer.unref()
}

function rotate(path: string, generation: number): void {
  copyFileSync(path, `${path}.draft`)
  renameSync(`${path}.draft`, rotatedPath(path, generation))
  ftruncateSync(STDOUT)
  rmSync(rotatedPath(path, generation - 1), { force: true })
}
