import type { Command } from 'commander'
import { actLater, examples } from '../session/act.ts'

/** Adds `podplane deploy`, `podplane init` and `podplane dev`. */
export function addDeploy(program: Command): void {
  const deploy = program
    .command('deploy')
    .description('create or change the volumes, templates, endpoints and pods that a podplane.toml declares')
    .option('-f, --file <path>', 'path of the podplane.toml', 'podplane.toml')
    .option('--plan', 'show what would change and what it would cost; change nothing')
    .option('--wait', 'wait until pods are usable and smoke jobs have COMPLETED')
  actLater(deploy, async () => (await import('../deploy/deploy.ts')).deploy, { waits: true })
  examples(deploy, 'deploy --plan', 'deploy --yes --wait', 'deploy -f staging.toml --json')
  const init = program
    .command('init [kind]')
    .description('write a starter podplane.toml; the kind is endpoint, worker or pod')
    .option('-f, --file <path>', 'path of the file to write', 'podplane.toml')
  actLater(init, async () => (await import('../deploy/init.ts')).init)
  examples(init, 'init endpoint', 'init worker', 'init pod -f notebook.toml')
  const dev = program
    .command('dev')
    .description('run the worker of this directory in the local plane: build, smoke job, log; repeat at each change of a file')
    .option('-f, --file <path>', 'path of the podplane.toml; the Dockerfile is in the same directory', 'podplane.toml')
    .option('--only <name>', 'name of the endpoint to run, if the file declares several')
    .option('--once', 'run once; exit code 1 unless the smoke job COMPLETED')
  actLater(dev, async () => (await import('../dev/dev.ts')).develop)
  examples(dev, 'init worker && podplane dev', 'dev -f examples/chat/podplane.toml', 'dev --once --json')
}
