import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'

/** Folder of the artifacts that the end-to-end tests build once: file trees, virtual environments, models. */
export const CACHE = join(PROJECT_ROOT, '.cache/e2e')
export const SUITE = 'bookworm'
export const MIRROR = 'http://deb.debian.org/debian'
const OUTPUT_MAX_BYTES = 64 * 2 ** 20
/** Characters shown of a failed command's output: its reason is at the end. */
const OUTPUT_SHOWN_CHARS = 4000

const runFile = promisify(execFile)

/**
 * The path of a Debian file tree with the comma-separated `packages`, built once and cached under `name`. `fill` adds to the draft; an
 * unfinished tree leaves nothing behind.
 */
export async function debianTree(name: string, packages: string, fill: (draft: string) => Promise<void>): Promise<string> {
  const root = join(CACHE, name)
  if (existsSync(root)) return root
  if (process.getuid?.() !== 0) throw new Error('debootstrap needs root to build an image; run the end-to-end tests as root once')
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    // The tree becomes `/` of users who are not root, and the scripts of some packages run as such a user.
    await run('chmod', '755', draft)
    await run('debootstrap', '--variant=minbase', `--include=${packages}`, SUITE, draft, MIRROR)
    await fill(draft)
    renameSync(draft, root)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return root
}

/** Runs a program to its end. Throws with the end of its output when it fails. */
export async function run(program: string, ...args: string[]): Promise<void> {
  try {
    await runFile(program, args, { maxBuffer: OUTPUT_MAX_BYTES })
  } catch (error) {
    const printed =
      error instanceof Error && 'stdout' in error && 'stderr' in error ? `${String(error.stdout)}\n${String(error.stderr)}` : ''
    const message = error instanceof Error ? error.message.slice(0, 500) : String(error)
    throw new Error(`${program} ${args[0]} failed: ${message}\n${printed.slice(-OUTPUT_SHOWN_CHARS)}`)
  }
}

export function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12)
}
