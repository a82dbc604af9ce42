import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import type { FileReport } from '../test/support/plans/collect.ts'
import { readPlans, writePlans } from '../test/support/plans/files.ts'
import { unreasoned } from '../test/support/plans/golden.ts'
import { merged, replanned } from '../test/support/plans/merge.ts'
import { sitesOf } from '../test/support/plans/sites.ts'

// Updates test/plans (adr/0064): `npm run plans -- test/worker/pods` adds the statements that those tests run; `npm run plans` runs all
// tests inside the runtime and removes statements that no test runs. A statement that scans or sorts is left out, unless `--bounded
// <reason>` says why it is bounded.

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { bounded: { type: 'string' }, recorded: { type: 'string' } },
})
const folder = mkdtempSync(join(tmpdir(), 'podplane-plans-'))
try {
  process.exitCode = update()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function update(): number {
  const isAll = positionals.length === 0
  const recorded = values.recorded ?? join(folder, 'recorded')
  const tests = isAll ? ['--project', 'worker', '--project', 'bounds'] : positionals
  if (!values.recorded && !vitest(tests, { PLANS_RECORDED: recorded }) && isAll)
    return refuse('a test failed, so the statements are incomplete')
  const lines = existsSync(recorded) ? readFileSync(recorded, 'utf8').split('\n').filter(Boolean) : []
  const reports = lines.map((line) => JSON.parse(line) as FileReport)
  const made = reports.flatMap(({ byChance, made }) => (byChance ? [] : made))
  const plans = merged(readPlans(), made, new Set(sitesOf(PROJECT_ROOT).map(({ name }) => name)), isAll)
  const [draft, result] = [join(folder, 'draft'), join(folder, 'result')]
  writeFileSync(draft, JSON.stringify(plans))
  vitest(['test/worker/statements/plans.test.ts'], { PLANS_DRAFT: draft, PLANS_RESULT: result })
  if (!existsSync(result)) return refuse('no plan could be made')
  const details: Record<string, Record<string, string[]>> = JSON.parse(readFileSync(result, 'utf8'))
  const refused: string[] = []
  for (const [store, sections] of Object.entries(plans))
    for (const section of sections)
      section.statements = section.statements.flatMap((statement) => {
        const steps = details[store]?.[statement.text]
        if (!steps) refused.push(`${store}: ${section.site}: has no plan alone: ${statement.text}`)
        if (!steps) return []
        const planned = replanned(statement, steps, values.bounded ?? null)
        const faults = unreasoned(planned)
        refused.push(...faults.map((detail) => `${store}: ${section.site}: ${detail}: ${statement.text}`))
        return faults.length > 0 ? [] : [planned]
      })
  writePlans(plans)
  return refused.length === 0
    ? 0
    : refuse(`left out, because they scan or sort and have no reason (\`--bounded <reason>\`):\n${refused.join('\n')}`)
}

function vitest(tests: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const { status } = spawnSync('npx', ['vitest', 'run', ...tests], { cwd: PROJECT_ROOT, stdio: 'inherit', env: { ...process.env, ...env } })
  return status === 0
}

function refuse(why: string): number {
  process.stderr.write(`${why}\n`)
  return 1
}
