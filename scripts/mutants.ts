import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { type Planted, plantedBugs, withBug } from '../test/support/mutant.ts'

// Mutation tests: plants each bug of the tables in a copy of the sources, where the test file beside its table must fail. `npm run mutants`
// tries all bugs, `-- TEXT` those whose name or table contains the text, `-- --seed SEED` ten that the seed selects among those with fast
// tests. The test files must pass without a bug, which is verified first, except with `--tested`. One line per bug; exit code 1 if one
// survives.

const COPIED = [
  'src',
  'durable-objects',
  'test',
  'migrations',
  'vitest.config.ts',
  'wrangler.toml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'dist',
  'docs',
]
/** Number of bugs that a seed selects. They take less than two minutes on two cores, because none needs the Worker's runtime. */
const SELECTED = 10
/** A test file that runs longer hangs because of the bug, milliseconds. */
const TIME_LIMIT_MS = 5 * 60_000
const MAX_COPIES = 8
/** Characters of output shown for tests that do not run. */
const SHOWN_CHARS = 4_000

interface Outcome {
  /** A test failed, or hung. */
  failed: boolean
  /** Why no test ran, which proves nothing about a bug; empty: tests ran. */
  broken: string
}

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, tested: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const chosen = select(await plantedBugs(PROJECT_ROOT), positionals[0] ?? '', values.seed)
if (values.seed !== undefined) console.log(`${chosen.length} planted bugs; again: npm run mutants -- --seed ${values.seed}`)
const copies = Array.from({ length: Math.min(availableParallelism(), MAX_COPIES, chosen.length) }, makeCopy)
let survived = 0
try {
  if (!values.tested) await verifyTests(copies[0] ?? '', [...new Set(chosen.map(({ test }) => test))])
  const left = [...chosen]
  await Promise.all(copies.map((copy) => tryInTurn(copy, left)))
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
console.log(`\n${chosen.length - survived} caught, ${survived} survived`)
process.exitCode = survived === 0 ? 0 : 1

/** Bugs whose name or table contains the text; with a seed ten of the fast ones, always the same. */
function select(bugs: readonly Planted[], text: string, seed: string | undefined): Planted[] {
  const named = bugs.filter(({ id, table }) => id.includes(text) || table.includes(text))
  if (seed === undefined) return named
  const rank = ({ id }: Planted) => createHash('sha256').update(`${seed}:${id}`).digest('hex')
  const fast = named.filter(({ test }) => projectOf(test) !== 'worker')
  return fast.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, SELECTED)
}

async function verifyTests(copy: string, tests: readonly string[]): Promise<void> {
  for (const project of new Set(tests.map(projectOf))) {
    const outcome = await runTests(
      copy,
      project,
      tests.filter((test) => projectOf(test) === project),
    )
    if (outcome.failed || outcome.broken !== '') throw new Error(`the ${project} tests fail without a planted bug: ${outcome.broken}`)
  }
}

async function tryInTurn(copy: string, left: Planted[]): Promise<void> {
  for (let bug = left.shift(); bug; bug = left.shift()) {
    const started = performance.now()
    const { failed, broken } = await plant(bug, copy)
    const seconds = Math.round((performance.now() - started) / 1000)
    if (!failed) survived += 1
    const why = broken === '' ? 'survived' : `no test ran: ${broken}`
    console.log(failed ? `ok    ${bug.id} (${bug.test}, ${seconds} s)` : `FAIL  ${bug.id}: ${bug.test}: ${why}`)
  }
}

function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'podplane-mutants-'))
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Runs the test of a bug in a copy that has the bug meanwhile. */
async function plant(bug: Planted, copy: string): Promise<Outcome> {
  const path = join(copy, bug.file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, withBug(source, bug))
  try {
    return await runTests(copy, projectOf(bug.test), [bug.test])
  } finally {
    writeFileSync(path, source)
  }
}

/** The project of vitest.config.ts that a test file belongs to. */
function projectOf(test: string): string {
  if (test.startsWith('test/worker/')) return 'worker'
  return /^test\/(host-agent|local|ssh-proxy)\//.test(test) ? 'agent' : 'unit'
}

async function runTests(copy: string, project: string, tests: readonly string[]): Promise<Outcome> {
  const vitest = join(PROJECT_ROOT, 'node_modules/.bin/vitest')
  // One process per run, because each core has a copy. Only tests of the Worker need its one module, which takes seconds to build.
  const env = { ...process.env, NO_COLOR: '1', CI: '', ...(project === 'worker' ? {} : { SOURCES: '1' }) }
  const run = spawn(vitest, ['run', '--maxWorkers', '1', '--bail', '1', '--project', project, '--reporter', 'json', ...tests], {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const startedAt = performance.now()
  let output = ''
  let errors = ''
  run.stdout.on('data', (text) => {
    output += text
  })
  run.stderr.on('data', (text) => {
    errors = (errors + text).slice(-SHOWN_CHARS)
  })
  return new Promise((resolve) =>
    run.once('close', (code, signal) => {
      // A run that the system kills earlier, for memory for example, proves nothing.
      const hung = signal !== null && performance.now() - startedAt >= TIME_LIMIT_MS
      const ran = hung || /"num(Passed|Failed)Tests":[1-9]/.test(output)
      resolve({ failed: ran && code !== 0, broken: ran ? '' : `${errors}\n${output.slice(-SHOWN_CHARS)}` })
    }),
  )
}
