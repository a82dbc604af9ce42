import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { build as buildSite } from 'vite'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { PROGRAM_OPTIONS } from './program-options.ts'

// Builds the parts that a fresh clone lacks: the console and the reference page as static assets, and host agent, SSH proxy and CLI as
// single files.

const ASSETS = join(PROJECT_ROOT, 'dist/assets')
/** Served at `/reference/`, the address in the reference page. */
const REFERENCE = join(ASSETS, 'reference')
const EXECUTABLE_MODE = 0o755
const REDOC = fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))

mkdirSync(REFERENCE, { recursive: true })
copyFileSync(REDOC, join(REFERENCE, 'redoc.standalone.js'))
copyFileSync(join(dirname(REDOC), '../LICENSE'), join(REFERENCE, 'redoc.LICENSE.txt'))

await buildConsole()
// Headers for the asset service of a deployed plane, which serves these files without the Worker; elsewhere src/http/pages/console-page.ts
// sets the same headers.
writeFileSync(
  join(ASSETS, '_headers'),
  '/console/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n  X-Content-Type-Options: nosniff\n',
)

await buildProgram('src/host-agent/main.ts', 'podplane-agent.mjs')
await buildProgram('src/ssh-proxy/main.ts', 'podplane-ssh-proxy.mjs')
// Minified, because Node parses this file at every call of the CLI.
await buildProgram('src/cli/main.ts', 'podplane.mjs', { minify: true })

/**
 * Builds the console beside the one that is served, then moves its files into place. A plane that serves this folder never misses a file,
 * because files with the same content keep their names.
 */
async function buildConsole(): Promise<void> {
  const served = join(ASSETS, 'console')
  const made = mkdtempSync(join(PROJECT_ROOT, 'dist/console-'))
  try {
    await buildSite({ configFile: join(PROJECT_ROOT, 'src/console/vite.config.ts'), build: { outDir: made } })
    const files = listFiles(made)
    for (const name of files) {
      mkdirSync(dirname(join(served, name)), { recursive: true })
      renameSync(join(made, name), join(served, name))
    }
    for (const name of listFiles(served)) if (!files.includes(name)) rmSync(join(served, name))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Returns the paths of all files below a folder, relative to it. */
function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

/** Bundles a Node program into one file. */
async function buildProgram(entry: string, name: string, options: BuildOptions = {}): Promise<void> {
  const outfile = join(PROJECT_ROOT, 'dist', name)
  await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: [entry],
    outfile,
    ...PROGRAM_OPTIONS,
    ...options,
  })
  chmodSync(outfile, EXECUTABLE_MODE)
}
