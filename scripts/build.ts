import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// Builds what a fresh clone needs beside its sources: the static assets of the reference page and the one-file host agent.

const ASSETS = join(PROJECT_ROOT, 'dist/assets')
/** Served at `/reference/`, where the reference page looks for it. */
const REFERENCE = join(ASSETS, 'reference')
const AGENT = join(PROJECT_ROOT, 'dist/podplane-agent.mjs')
const REDOC = fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))

mkdirSync(REFERENCE, { recursive: true })
copyFileSync(REDOC, join(REFERENCE, 'redoc.standalone.js'))
copyFileSync(join(dirname(REDOC), '../LICENSE'), join(REFERENCE, 'redoc.LICENSE.txt'))

await build({
  absWorkingDir: PROJECT_ROOT,
  entryPoints: ['src/host-agent/main.ts'],
  outfile: AGENT,
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  // The SSH transport of the Docker client wants these compiled ones; the agent speaks to a socket and never loads them.
  external: ['cpu-features', '*.node'],
  // CommonJS packages inside an ES module still ask for these.
  banner: {
    js: [
      "import { createRequire } from 'node:module';",
      'const require = createRequire(import.meta.url);',
      'const __filename = import.meta.filename;',
      'const __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  logLevel: 'warning',
})
const EXECUTABLE_MODE = 0o755
chmodSync(AGENT, EXECUTABLE_MODE)
