import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory that the caller removes. */
export function makeTempDir(name: string): string {
  return mkdtempSync(join(tmpdir(), `podplane-${name}-`))
}

/** A directory for the running test, removed when that is over. */
export function tempDir(name: string): string {
  const dir = makeTempDir(name)
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}
