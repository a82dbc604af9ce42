import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory for the running test, or for the hook that precedes it; removed when the test is over. */
export function tempDir(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `podplane-${name}-`))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}
