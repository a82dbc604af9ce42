import { cpus } from 'node:os'

/** Returns the model of this machine's processor and the number of its threads. */
export function describeProcessor(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} threads`
}
