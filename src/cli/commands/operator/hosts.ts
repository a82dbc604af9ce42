import type { Command } from 'commander'
import { agentCommand, isPlainHttp } from '../../../client/agent-command.ts'
import type { ApiBody } from '../../../client/client.ts'
import { JOIN_DEFAULTS } from '../../../contract/defaults.ts'
import { usage } from '../../core/failure.ts'
import { type Call, hostOf, PLAN, type Planned } from './call.ts'

interface NewHost {
  dataCenter?: string
  cloud?: string
  insecurePlane?: boolean
}

/** Adds `hosts …` and `join-tokens …`. */
export function addHosts(program: Command, call: Call): void {
  const joinTokens = program.command('join-tokens').description('tokens for machines that join the plane')
  joinTokens
    .command('create')
    .description('create a token for one machine; it is shown only once')
    .option('--name <name>', 'name of the machine')
    .option('--data-center <id>', `data center of the machine (default: ${JOIN_DEFAULTS.dataCenterId})`)
    .option('--cloud <tier>', `cloud of the machine: SECURE or COMMUNITY (default: ${JOIN_DEFAULTS.cloud})`)
    .action(({ name, dataCenter, cloud }: { name?: string; dataCenter?: string; cloud?: string }) => {
      return call((api) => api.createJoinToken({ body: { name, dataCenterId: dataCenter, cloud } as ApiBody<'createJoinToken'> }))
    })

  joinTokens
    .command('list')
    .description('list join tokens of the last 30 days, without their secrets')
    .action(() => call((api) => api.listJoinTokens()))
  joinTokens
    .command('revoke <id>')
    .description('revoke a join token that no machine has used')
    .option(...PLAN)
    .action((id: string, { plan }: Planned) => call((api) => api.revokeJoinToken({ path: { id }, query: { dryRun: plan } })))

  const hosts = program.command('hosts').description('machines')
  hosts
    .command('list')
    .description('list machines')
    .action(() => call((api) => api.listHosts()))
  hosts
    .command('get <host>')
    .description('show one machine')
    .action((host: string) => call(async (api) => await api.getHost({ path: await hostOf(api, host) })))
  hosts
    .command('cordon <host>')
    .description('place no new work on a machine; running work stays')
    .option('--reason <text>', 'reason that is shown with the machine')
    .option(...PLAN)
    .action((host: string, { plan, ...body }: { reason?: string; plan?: boolean }) =>
      call(async (api) => await api.cordonHost({ path: await hostOf(api, host), query: { dryRun: plan }, body })),
    )
  hosts
    .command('uncordon <host>')
    .description('allow new work on a machine again; ends a drain')
    .action((host: string) => call(async (api) => await api.uncordonHost({ path: await hostOf(api, host) })))
  hosts
    .command('drain <host>')
    .description('cordon a machine and let its workers stop once they have finished their jobs')
    .option('--reason <text>', 'reason that is shown with the machine')
    .option(...PLAN)
    .action((host: string, { plan, ...body }: { reason?: string; plan?: boolean }) =>
      call(async (api) => await api.drainHost({ path: await hostOf(api, host), query: { dryRun: plan }, body })),
    )
  hosts
    .command('remove <host>')
    .description('remove a machine that no workload is placed on')
    .option(...PLAN)
    .action((host: string, { plan }: { plan?: boolean }) =>
      call(async (api) => await api.removeHost({ path: await hostOf(api, host), query: { dryRun: plan } })),
    )
  hosts
    .command('add [name]')
    .description('create a join token and print the command that starts the agent of a new machine; the token is shown only once')
    .option('--data-center <id>', `data center of the machine (default: ${JOIN_DEFAULTS.dataCenterId})`)
    .option('--cloud <tier>', `cloud of the machine: SECURE or COMMUNITY (default: ${JOIN_DEFAULTS.cloud})`)
    .option('--insecure-plane', 'let the agent use plain http, also for secrets, to a plane on another machine')
    .action((name: string | undefined, { dataCenter, cloud, insecurePlane }: NewHost) =>
      call(async (api, url) => {
        if (isPlainHttp(url) && insecurePlane !== true)
          throw usage(
            `an agent refuses plain http to ${url}`,
            'use the https address of the plane, or pass --insecure-plane if the network itself is private',
          )
        const made = await api.createJoinToken({ body: { name, dataCenterId: dataCenter, cloud } as ApiBody<'createJoinToken'> })
        return { ...made, command: agentCommand(url, made.token, insecurePlane) }
      }),
    )
}
