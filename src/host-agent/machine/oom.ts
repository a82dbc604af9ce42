import { writeFileSync } from 'node:fs'

/** Almost never: the kernel ends nearly everything else before. */
const PROTECTED = -900

/** Asks the kernel to spare this process when memory ends (HOST-93); false where it may not ask for that. */
export function protectFromOom(path = '/proc/self/oom_score_adj'): boolean {
  try {
    writeFileSync(path, String(PROTECTED))
    return true
  } catch {
    return false
  }
}
