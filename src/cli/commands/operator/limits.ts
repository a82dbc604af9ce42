import type { Command } from 'commander'
import type { ApiBody } from '../../../client/client.ts'
import { type Call, PLAN, type Planned, parseBudgets, parseCount, parseUsd, userOf } from './call.ts'

/** Adds the commands for request quotas, budgets and spend ceilings of accounts. */
export function addLimits(program: Command, call: Call): void {
  program
    .command('quotas')
    .description('limits on the REST requests of an account')
    .command('set <user>')
    .description('override the quotas of a user (id or email)')
    .requiredOption('--minute <n>', 'maximum number of requests in a minute', parseCount)
    .requiredOption('--hour <n>', 'maximum number of requests in an hour', parseCount)
    .requiredOption('--day <n>', 'maximum number of requests in a day', parseCount)
    .option('--exempt', 'apply no limit', false)
    .option(...PLAN)
    .action((user: string, { plan, ...body }: ApiBody<'setQuotas'> & Planned) => {
      return call(async (api) => api.setQuotas({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })

  const isolation = program.command('isolation').description('runtime class that isolates the containers of an account from the machine')
  isolation
    .command('get <user>')
    .description('show the runtime class that the containers of a user (id or email) require')
    .action((user: string) => call(async (api) => api.getIsolation({ path: await userOf(api, user) })))
  isolation
    .command('set <user>')
    .description('require a runtime class for workloads that are placed from then on')
    .requiredOption('--runtime-class <class>', 'runtime class to require: runc, runsc, kata, or any')
    .option(...PLAN)
    .action((user: string, { runtimeClass, plan }: { runtimeClass: string } & Planned) => {
      const body = { runtimeClass: runtimeClass === 'any' ? null : runtimeClass } as ApiBody<'setIsolation'>
      return call(async (api) => api.setIsolation({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })

  const budgets = program.command('budgets').description('limits on the resources of an account')
  budgets
    .command('get <user>')
    .description('show the budgets of a user (id or email) that differ from the defaults')
    .action((user: string) => call(async (api) => api.getBudgets({ path: await userOf(api, user) })))
  budgets
    .command('set <user> [budgets...]')
    .description('set budgets, such as gpus=64 queuedBytes=1073741824; a budget that is left out returns to the default')
    .option(...PLAN)
    .action((user: string, given: string[], { plan }: Planned) => {
      return call(async (api) => api.setBudgets({ path: await userOf(api, user), query: { dryRun: plan }, body: parseBudgets(given) }))
    })

  const spend = program.command('spend-limits').description('limits on the spending of an account')
  spend
    .command('get <user>')
    .description('show the spending limits of a user (id or email) that differ from the defaults')
    .action((user: string) => call(async (api) => api.getSpendCeilings({ path: await userOf(api, user) })))
  spend
    .command('set <user>')
    .description('set spending limits; a limit that is left out returns to the default')
    .option('--per-hour <usd>', 'maximum cost per hour of all running resources, in USD', parseUsd)
    .option('--per-month <usd>', 'maximum cost per calendar month, in USD', parseUsd)
    .option(...PLAN)
    .action((user: string, { plan, ...body }: ApiBody<'setSpendCeilings'> & Planned) => {
      return call(async (api) => api.setSpendCeilings({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })
}
