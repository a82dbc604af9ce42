import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { build as buildSite } from 'vite'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { PROGRAM_OPTIONS } from './program-options.ts'

// Builds what a fresh clone needs beside its sources: the console and the reference page as static assets, the one-file host agent,
// SSH proxy and command line.

const ASSETS = join(PROJECT_ROOT, 'dist/assets')
/** Served at `/reference/`, where the reference page looks for it. */
const REFERENCE = join(ASSETS, 'reference')
const EXECUTABLE_MODE = 0o755
const REDOC = fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))

mkdirSync(REFERENCE, { recursive: true })
copyFileSync(REDOC, join(REFERENCE, 'redoc.standalone.js'))
copyFileSync(join(dirname(REDOC), '../LICENSE'), join(REFERENCE, 'redoc.LICENSE.txt'))

await buildSite({ configFile: join(PROJECT_ROOT, 'src/console/vite.config.ts') })
// For the asset service of the network, which serves these without the Worker; src/http/pages/console-page.ts says the same of them elsewhere.
writeFileSync(
  join(ASSETS, '_headers'),
  '/console/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n  X-Content-Type-Options: nosniff\n',
)

await buildProgram('src/host-agent/main.ts', 'podplane-agent.mjs')
await buildProgram('src/ssh-proxy/main.ts', 'podplane-ssh-proxy.mjs')
// Read at every start, so without what only people need.
await buildProgram('src/cli/main.ts', 'podplane.mjs', { minify: true })

/** A program for Node in one file. */
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
