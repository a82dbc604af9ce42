import { runWrangler } from '../src/local/plane/wrangler.ts'

// Migrations run first: the new Worker must never run with the old tables. Arguments, such as `--env staging`, go to both steps.

const args = process.argv.slice(2)
const environment = args.flatMap((arg, index) =>
  arg === '--env' || arg === '-e' ? ['--env', args[index + 1] ?? ''] : arg.startsWith('--env=') ? [arg] : [],
)
const migrated = args.includes('--dry-run') ? 0 : await runWrangler(['d1', 'migrations', 'apply', 'DB', '--remote', ...environment])
if (migrated !== 0)
  process.stderr.write('The migrations were not applied, so nothing was deployed. docs/deploy.md goes through every step.\n')
process.exitCode = migrated === 0 ? await runWrangler(['deploy', ...args]) : migrated
