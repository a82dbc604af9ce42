import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

await buildSite({ configFile: join(PROJECT_ROOT, 'src/console/vite.config.ts') })
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
