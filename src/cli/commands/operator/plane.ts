import type { Command } from 'commander'
import { runOf } from '../../session/act.ts'
import { readAllPages } from '../../session/pages.ts'
import type { PlaneFlags } from '../../tools/run-plane.ts'
import type { Call } from './call.ts'

/** Adds `plane …`: state of the plane, waiting workloads, and the audit log. */
export function addPlane(program: Command, call: Call): void {
  const plane = program.command('plane').description('the plane: its release, its health, and endpoints that wait for machines')
  plane
    .command('status')
    .description('show the release, the migrations, and every check')
    .action(() => call((api) => api.getPlane()))
  plane
    .command('doctor')
    .description('run every check of the plane and print the result of each; exit code 1 if a check fails')
    .action(() =>
      call(
        async (api) => ({ checks: (await api.getPlane()).checks }),
        ({ checks }) => checks.some(({ verdict }) => verdict === 'FAIL'),
      ),
    )
  plane
    .command('waiting')
    .description('list endpoints whose workers fit on no machine: since when, and what the machines lack')
    .action(() =>
      call(async (api) => {
        const { waiting } = await readAllPages((query) => api.listWaiting({ query }))
        const rows = waiting.map(({ endpointId, endpointName, accountId, since, missing }) => ({
          id: endpointId,
          name: endpointName,
          accountId,
          since,
          missing: missing.map(({ text, hosts }) => `${text} (${hosts} hosts)`).join('; '),
        }))
        return { waiting: rows }
      }),
    )
  plane
    .command('run')
    .description('run a plane and a host agent on this machine, as npm start does; for services')
    .option('--data <directory>', 'directory for all data (PODPLANE_DATA)')
    .option('--port <port>', 'port of the plane, on loopback (PORT)')
    .option('--no-agent', 'run no host agent here')
    .option('--simulate-gpus <spec>', 'let the agent offer GPUs that this machine does not have, such as "NVIDIA L4:2"')
    .action(async (flags: PlaneFlags) => {
      const run = runOf(plane)
      run.exitCode = await (await import('../../tools/run-plane.ts')).runPlane(flags, run.io.env)
    })
  addAudit(plane, call)
}

/** Adds `plane audit`, also `audit` of `npm run admin`. */
export function addAudit(parent: Command, call: Call): void {
  parent
    .command('audit')
    .description('show the audit log of all accounts, newest first')
    .option('--account <id>', 'only changes in this account')
    .option('--resource <id>', 'only changes of this resource')
    .option('--actor <id>', 'only changes by this user or key')
    .action(({ account, resource, actor }: { account?: string; resource?: string; actor?: string }) =>
      call((api) => api.listAllAudit({ query: { account, resource, actor } })),
    )
}
