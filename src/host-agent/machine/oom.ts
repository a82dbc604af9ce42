import { writeFileSync } from 'node:fs'

/** Adjustment with which the kernel ends nearly every other process first. */
const PROTECTED = -900

/**
 * Sets the OOM score adjustment of this process: when memory runs out, the kernel ends processes with a high one first (HOST-93). False where
 * the agent lacks the right, or the kernel is not Linux.
 */
export function setOomScore(score: number, path = '/proc/self/oom_score_adj'): boolean {
  try {
    writeFileSync(path, String(score))
    return true
  } catch {
    return false
  }
}

/** Lowers the OOM score of this process, so that the kernel spares it; returns as `setOomScore`. */
export function protectFromOom(path?: string): boolean {
  return setOomScore(PROTECTED, path)
}
