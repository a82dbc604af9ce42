import type { Command } from 'commander'
import { OperatorError } from '../../../node/fail.ts'
import { type Call, PLAN, type Planned, parseBudgets, parseCount, userOf } from './call.ts'

interface PlanFlags extends Planned {
  minute?: number
  hour?: number
  day?: number
}

/** Adds `plans …`: sets of limits that accounts share (PLAN-1). */
export function addPlans(program: Command, call: Call): void {
  const plans = program.command('plans').description('limits that several accounts share')
  plans
    .command('list')
    .description('list plans, and how many accounts have each')
    .action(() => call((api) => api.listPlans()))
  plans
    .command('set <name> [budgets...]')
    .description('create or change a plan, such as research gpus=64 organizations=3; "default" applies to accounts without a plan')
    .option('--minute <n>', 'maximum number of requests in a minute; set all three windows or none', parseCount)
    .option('--hour <n>', 'maximum number of requests in an hour', parseCount)
    .option('--day <n>', 'maximum number of requests in a day', parseCount)
    .option(...PLAN)
    .action((name: string, given: string[], flags: PlanFlags) => {
      const body = { requests: requestsOf(flags), budgets: parseBudgets(given) }
      return call((api) => api.setPlan({ path: { name }, query: { dryRun: flags.plan }, body }))
    })
  plans
    .command('delete <name>')
    .description('delete a plan that no account has')
    .option(...PLAN)
    .action((name: string, { plan }: Planned) => call((api) => api.deletePlan({ path: { name }, query: { dryRun: plan } })))
  plans
    .command('assign <plan> <account>')
    .description('assign a plan to a user (id or email) or, with --organization, to an organization (id); "none" removes the plan')
    .option('--organization', 'the account is an organization')
    .option(...PLAN)
    .action((name: string, account: string, { organization, plan: dryRun }: Planned & { organization?: boolean }) =>
      call(async (api) => {
        const body = { plan: name === 'none' ? null : name }
        if (organization) return api.setOrganizationPlan({ path: { id: account }, query: { dryRun }, body })
        return api.setUserPlan({ path: await userOf(api, account), query: { dryRun }, body })
      }),
    )
}

function requestsOf({ minute, hour, day }: PlanFlags): { minute: number; hour: number; day: number } | undefined {
  const given = [minute, hour, day].filter((value) => value !== undefined)
  if (given.length === 0) return undefined
  if (minute === undefined || hour === undefined || day === undefined)
    throw new OperatorError('set all three of --minute, --hour and --day, or none of them')
  return { minute, hour, day }
}
