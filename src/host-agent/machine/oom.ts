import { writeFileSync } from 'node:fs'

/** OOM score adjustment with which the kernel ends nearly every other process first. */
const PROTECTED = -900

/**
 * Lowers the OOM score of this process, so that the kernel spares it when memory runs out (HOST-93); false where the agent lacks the right.
 */
export function protectFromOom(path = '/proc/self/oom_score_adj'): boolean {
  try {
    writeFileSync(path, String(PROTECTED))
    return true
  } catch {
    return false
  }
}
