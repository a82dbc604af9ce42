import type { Command } from 'commander'
import type { DeployFlags } from '../deploy/deploy.ts'
import type { DevFlags } from '../dev/dev.ts'
import { act, examples } from '../session/act.ts'

/** Adds `podplane deploy`, `podplane init` and `podplane dev`. */
export function addDeploy(program: Command): void {
  const deploy = program
    .command('deploy')
    .description('make what a podplane.toml declares: volumes, templates, endpoints, pods')
    .option('-f, --file <path>', 'the file', 'podplane.toml')
    .option('--plan', 'say what would change and what it would cost, and change nothing')
    .option('--yes', 'do not ask')
    .option('--wait', 'until it works: pods are usable, smoke jobs have COMPLETED')
  act(deploy, async (session, flags: DeployFlags) => await (await import('../deploy/deploy.ts')).deploy(session, flags), { waits: true })
  examples(deploy, 'deploy --plan', 'deploy --yes --wait', 'deploy -f staging.toml --json')
  const init = program
    .command('init [kind]')
    .description('write a podplane.toml to begin with; a kind is endpoint, worker or pod')
    .option('-f, --file <path>', 'where to', 'podplane.toml')
  act(init, async (session, { file }: { file: string }, kind = 'endpoint') => (await import('../deploy/init.ts')).init(session, kind, file))
  examples(init, 'init endpoint', 'init worker', 'init pod -f notebook.toml')
  const dev = program
    .command('dev')
    .description('run the worker of this directory in the local plane: build, smoke job, log; again at each change of a file')
    .option('-f, --file <path>', 'the podplane.toml; its directory has the Dockerfile', 'podplane.toml')
    .option('--only <name>', 'which endpoint, where the file declares several')
    .option('--once', 'one round; exit code 1 unless its job COMPLETED')
  act(dev, async (session, flags: DevFlags) => await (await import('../dev/dev.ts')).develop(session, flags))
  examples(dev, 'init worker && podplane dev', 'dev -f examples/chat/podplane.toml', 'dev --once --json')
}
