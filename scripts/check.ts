import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { WRANGLER_ENV } from '../src/local/plane/wrangler.ts'
import { installPackages } from './install-packages.ts'
import { TYPE_PROJECTS } from './type-projects.ts'

// All automatic checks of the sources, one line per step. None needs a network once the tools of the SDK and the published clients are
// installed. With `--tested`, as in CI after `npm cit`, the steps that are also tests are left out.

interface Step {
  name: string
  /** The test file of `npm test` that runs this step. */
  test?: string
  run(): Promise<StepResult>
}
interface StepResult {
  ok: boolean
  output: string
}

/** Switches off the telemetry and the update check of Redocly. */
const REDOCLY_ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** A comparison that is always true although it looks like a check for a row (adr/0017). */
const USELESS_CONDITION = `declare function find(): Promise<{ id: string } | undefined>
export const exists = (await find()) !== null
`

const steps: Step[] = [
  { name: 'packages of the end-to-end clients', run: installClients },
  { name: 'format and lint', run: () => bin('biome', ['check', '--error-on-warnings', '.']) },
  { name: 'conditions', run: checkConditions },
  ...TYPE_PROJECTS.map((project) => ({
    name: `types: ${project}`,
    run: () => bin('tsc', ['-p', project]),
  })),
  { name: 'unused code', run: () => bin('knip', []) },
  testStep('architecture', 'test/architecture.test.ts'),
  { name: 'migrations match the tables', run: checkMigrations },
  testStep('generated API documents', 'test/contract/texts/documents.test.ts'),
  { name: 'SDK from the API document', run: () => command(process.execPath, ['scripts/sdk.ts', '--check']) },
  { name: 'rules of OpenAPI', run: () => bin('redocly', ['lint', 'docs/openapi-v2.json', 'docs/openapi-admin-v1.json']) },
  testStep('supply chain', 'test/contract/supply-chain.test.ts'),
  { name: 'deployable bundle', run: checkBundle },
]

const isTested = process.argv.includes('--tested')
const wanted = steps.filter(({ test }) => !isTested || test === undefined)
let failed = 0
for (const step of wanted) {
  const startedAt = performance.now()
  const { ok, output } = await step.run()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${step.name} (${seconds} s)\n`)
  if (ok) continue
  failed += 1
  process.stdout.write(`${output.trim().replace(/^/gm, '      ')}\n`)
}
process.stdout.write(failed === 0 ? 'All checks passed.\n' : `${failed} of ${wanted.length} checks failed.\n`)
process.exitCode = failed === 0 ? 0 : 1

// The types of the end-to-end tests and the search for unused code need them.
function installClients(): Promise<StepResult> {
  return installPackages(join(PROJECT_ROOT, 'test/e2e/clients')).then(
    () => ({ ok: true, output: '' }),
    (error: Error) => ({ ok: false, output: error.message }),
  )
}

function testStep(name: string, test: string): Step {
  return { name, test, run: () => bin('vitest', ['run', test]) }
}

// Tests are left out, because `let plane!: Plane` makes all their `plane?.stop()` look unnecessary. A linter that cannot parse the sources
// would find nothing and pass, so it must find a planted fault first.
async function checkConditions(): Promise<StepResult> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-conditions-'))
  const lint = (path: string[]) => bin('oxlint', ['--type-aware', '--config', join(PROJECT_ROOT, '.oxlintrc.json'), ...path])
  try {
    writeFileSync(join(directory, 'planted.ts'), USELESS_CONDITION)
    const extended = { extends: join(PROJECT_ROOT, 'tsconfig.base.json'), include: ['planted.ts'] }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(extended))
    const planted = await lint([directory])
    if (!planted.output.includes('no-unnecessary-condition'))
      return { ok: false, output: `a planted condition was not found: ${planted.output}` }
    return lint(['src', 'durable-objects'])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// drizzle-kit has no dry run, so it works on a copy, which must stay unchanged.
async function checkMigrations(): Promise<StepResult> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-migrations-'))
  try {
    const copy = join(directory, 'migrations')
    cpSync(join(PROJECT_ROOT, 'migrations'), copy, { recursive: true })
    // drizzle-kit compares with the newest one alone, and each is as long as the schema.
    const snapshots = readdirSync(join(copy, 'meta')).filter((name) => name.endsWith('_snapshot.json'))
    if (snapshots.length > 1) return { ok: false, output: `delete the older snapshots: ${snapshots.toSorted().slice(0, -1).join(', ')}` }
    const schema = ['--dialect', 'sqlite', '--schema', './src/db/schema.ts']
    // It exits with 0 even when it fails, for example with an absolute path.
    const { output } = await bin('drizzle-kit', ['generate', ...schema, '--out', relative(PROJECT_ROOT, copy)])
    const isUnchanged = output.includes('No schema changes')
    return { ok: isUnchanged, output: `the tables changed without a migration (npm run generate), or drizzle-kit failed:\n${output}` }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function checkBundle(): Promise<StepResult> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-bundle-'))
  try {
    return await bin('wrangler', ['deploy', '--dry-run', '--outdir', directory])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function bin(name: string, args: string[]): Promise<StepResult> {
  return command(join(PROJECT_ROOT, 'node_modules/.bin', name), args)
}

function command(file: string, args: string[]): Promise<StepResult> {
  const child = spawn(file, args, {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The tools in .bin run the Node on the path, and an older one could not read these sources.
    env: {
      ...process.env,
      ...WRANGLER_ENV,
      ...REDOCLY_ENV,
      CI: 'true',
      NO_COLOR: '1',
      PATH: `${join(PROJECT_ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ ok: false, output: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })
}
