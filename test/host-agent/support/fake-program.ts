import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Puts a shell script into a folder of the search path, in one step, because another process may be about to run it. */
export function installProgram(dir: string, name: string, script: string): void {
  const draft = join(dir, `.${name}`)
  writeFileSync(draft, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  renameSync(draft, join(dir, name))
}
