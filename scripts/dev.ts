import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSecrets, openDataDir } from '../src/local/data-dir.ts'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { runWrangler } from '../src/local/plane/wrangler.ts'

// `wrangler dev`: the Worker alone, reloaded when a source changes. `npm start` runs the whole product.

const DATA = join(PROJECT_ROOT, '.podplane-dev')
const VARS = join(PROJECT_ROOT, '.dev.vars')

if (!existsSync(VARS)) {
  mkdirSync(DATA, { recursive: true })
  const secrets = loadSecrets(openDataDir(DATA))
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(VARS, lines.join(''), { mode: 0o600 })
}
const persist = ['--persist-to', join(DATA, 'wrangler')]
const migrated = await runWrangler(['d1', 'migrations', 'apply', 'DB', '--local', ...persist])
process.exitCode =
  migrated === 0
    ? await runWrangler(['dev', '--port', process.env.PORT || '8787', '--var', 'GRAPHIQL:1', ...persist, ...process.argv.slice(2)])
    : migrated
