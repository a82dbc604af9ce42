import type { Command } from 'commander'
import { act, examples } from '../core/act.ts'
import type { DeployFlags } from '../deploy/deploy.ts'

/** `podplane deploy` and `podplane init`. */
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
}
