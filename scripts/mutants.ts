import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { DOMAIN_MUTANTS, type Mutant, OBJECT_MUTANTS } from '../test/mutants/table.ts'

// Plants every bug of the table, one at a time, in a copy of the sources and runs the tests that must notice. Exit code 1 when one
// survives. `npm run mutants` for all, `npm run mutants -- domain` or `-- objects` for a part.

const COPIED = [
  'src',
  'durable-objects',
  'test',
  'migrations',
  'vitest.config.ts',
  'wrangler.toml',
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'dist',
  'docs',
]
const SUITES = {
  domain: { mutants: DOMAIN_MUTANTS, args: ['--project', 'unit', 'test/domain'] },
  objects: {
    mutants: OBJECT_MUTANTS,
    args: [
      '--project',
      'worker',
      '--bail',
      '1',
      ...['lifecycle', 'leases', 'scaling', 'capacity', 'explain', 'webhooks', 'openai', 'event-stream'].map(
        (name) => `test/worker/queue/${name}`,
      ),
      'test/worker/rest/worker-logs',
    ],
  },
} as const

const wanted = process.argv[2]
const copy = mkdtempSync(join(tmpdir(), 'podplane-mutants-'))
for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(copy, name), { recursive: true })
symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(copy, 'node_modules'))

let survived = 0
let caught = 0
for (const [name, suite] of Object.entries(SUITES)) {
  if (wanted && wanted !== name) continue
  if (!passes(suite.args)) throw new Error(`the ${name} tests fail without any planted bug`)
  for (const mutant of suite.mutants) {
    const killed = kills(mutant, suite.args)
    if (killed) caught++
    else survived++
    console.log(`${killed ? 'caught  ' : 'SURVIVED'}  ${name}: ${mutant.id}`)
  }
}
rmSync(copy, { recursive: true, force: true })
console.log(`\n${caught} caught, ${survived} survived`)
process.exit(survived === 0 ? 0 : 1)

function kills(mutant: Mutant, args: readonly string[]): boolean {
  const path = join(copy, mutant.file)
  const source = readFileSync(path, 'utf8')
  if (source.split(mutant.find).length !== 2)
    throw new Error(`"${mutant.id}": its text occurs ${source.split(mutant.find).length - 1} times in ${mutant.file}, want 1`)
  writeFileSync(
    path,
    source.replace(mutant.find, () => mutant.replace),
  )
  const killed = !passes(args)
  writeFileSync(path, source)
  return killed
}

function passes(args: readonly string[]): boolean {
  return spawnSync(join(PROJECT_ROOT, 'node_modules/.bin/vitest'), ['run', ...args], { cwd: copy, stdio: 'ignore' }).status === 0
}
