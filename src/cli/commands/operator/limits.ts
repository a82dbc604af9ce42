import type { Command } from 'commander'
import type { ApiBody } from '../../../client/client.ts'
import { type Call, PLAN, type Planned, parseBudgets, parseCount, parseUsd, userOf } from './call.ts'

/** Adds the commands for request quotas, budgets and spend ceilings of accounts. */
export function addLimits(program: Command, call: Call): void {
  program
    .command('quotas')
    .description('REST requests that an account may send')
    .command('set <user>')
    .description('override the quotas of a user (id or email)')
    .requiredOption('--minute <n>', 'requests in a minute', parseCount)
    .requiredOption('--hour <n>', 'requests in an hour', parseCount)
    .requiredOption('--day <n>', 'requests in a day', parseCount)
    .option('--exempt', 'count nothing', false)
    .option(...PLAN)
    .action((user: string, { plan, ...body }: ApiBody<'setQuotas'> & Planned) => {
      return call(async (api) => api.setQuotas({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })

  const isolation = program.command('isolation').description('what must lie between an account and a machine')
  isolation
    .command('get <user>')
    .description('show what must run the containers of a user (id or email)')
    .action((user: string) => call(async (api) => api.getIsolation({ path: await userOf(api, user) })))
  isolation
    .command('set <user>')
    .description('require it for whatever is placed from now on')
    .requiredOption('--runtime-class <class>', 'runc, runsc, kata, or any')
    .option(...PLAN)
    .action((user: string, { runtimeClass, plan }: { runtimeClass: string } & Planned) => {
      const body = { runtimeClass: runtimeClass === 'any' ? null : runtimeClass } as ApiBody<'setIsolation'>
      return call(async (api) => api.setIsolation({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })

  const budgets = program.command('budgets').description('what an account may hold')
  budgets
    .command('get <user>')
    .description('show the budgets of a user (id or email) that differ from the defaults')
    .action((user: string) => call(async (api) => api.getBudgets({ path: await userOf(api, user) })))
  budgets
    .command('set <user> [budgets...]')
    .description('set them, such as gpus=64 queuedBytes=1073741824; what is left out is the default again')
    .option(...PLAN)
    .action((user: string, given: string[], { plan }: Planned) => {
      return call(async (api) => api.setBudgets({ path: await userOf(api, user), query: { dryRun: plan }, body: parseBudgets(given) }))
    })

  const spend = program.command('spend-limits').description('what an account may spend')
  spend
    .command('get <user>')
    .description('show the most that a user (id or email) may spend, where it is not the default')
    .action((user: string) => call(async (api) => api.getSpendCeilings({ path: await userOf(api, user) })))
  spend
    .command('set <user>')
    .description('set it; what is left out is the default again')
    .option('--per-hour <usd>', 'USD per hour of all that runs at one time', parseUsd)
    .option('--per-month <usd>', 'USD per calendar month', parseUsd)
    .option(...PLAN)
    .action((user: string, { plan, ...body }: ApiBody<'setSpendCeilings'> & Planned) => {
      return call(async (api) => api.setSpendCeilings({ path: await userOf(api, user), query: { dryRun: plan }, body }))
    })
}
