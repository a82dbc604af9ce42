import type { Command } from 'commander'
import type { ApiBody } from '../../../client/client.ts'
import { type Call, PLAN, type Planned, parseBudgets, splitList, userOf } from './call.ts'

/** Adds `users …`. */
export function addUsers(program: Command, call: Call): void {
  const users = program.command('users').description('users and their accounts')
  users
    .command('create <email>')
    .description('create a user with an account of their own')
    .action((email: string) => call((api) => api.createUser({ body: { email } })))
  users
    .command('list')
    .description('list users')
    .option('--email <email>', 'only the user with this address')
    .action(({ email }: { email?: string }) => {
      return call((api) => api.listUsers({ query: { email } }))
    })
  users
    .command('suspend <user>')
    .description('suspend a user (id or email): keys, streams, workers and pods end; jobs wait')
    .option(...PLAN)
    .action((user: string, { plan }: Planned) =>
      call(async (api) => api.suspendUser({ path: await userOf(api, user), query: { dryRun: plan } })),
    )
  users
    .command('resume <user>')
    .description('end a suspension; the pods that it stopped start again if a host has room')
    .option(...PLAN)
    .action((user: string, { plan }: Planned) =>
      call(async (api) => api.resumeUser({ path: await userOf(api, user), query: { dryRun: plan } })),
    )

  users
    .command('free-identities <user>')
    .description('unlink the sign-in identities of a user (id or email); the next verified sign-in with that address is linked')
    .option(...PLAN)
    .action((user: string, { plan }: Planned) =>
      call(async (api) => api.freeIdentities({ path: await userOf(api, user), query: { dryRun: plan } })),
    )
  users
    .command('quota <user> [budgets...]')
    .description('show the plan, budgets and spending limits of a user (id or email); gpus=64 sets a budget')
    .option(...PLAN)
    .action((user: string, given: string[], { plan }: Planned) =>
      call(async (api) => {
        const path = await userOf(api, user)
        if (plan) return api.setBudgets({ path, query: { dryRun: true }, body: parseBudgets(given) })
        const budgets = given.length === 0 ? await api.getBudgets({ path }) : await api.setBudgets({ path, body: parseBudgets(given) })
        const [{ plan: named }, spend] = await Promise.all([api.getUserPlan({ path }), api.getSpendCeilings({ path })])
        return { ...path, plan: named, budgets, spend }
      }),
    )
  users
    .command('delete <user>')
    .description('end the work of a user (id or email) and delete the account; usage is retained for the bill')
    .option(...PLAN)
    .action((user: string, { plan }: Planned) =>
      call(async (api) => api.deleteUser({ path: await userOf(api, user), query: { dryRun: plan } })),
    )
}

/** Adds `organizations …`: accounts that several users share. */
export function addOrganizations(program: Command, call: Call): void {
  const organizations = program.command('organizations').description('accounts that several people share')
  for (const [word, effect] of [
    ['suspend', 'suspend an organization (id): keys, streams, workers and pods end; jobs wait'],
    ['resume', 'end a suspension; the pods that it stopped start again if a host has room'],
  ] as const) {
    organizations
      .command(`${word} <id>`)
      .description(effect)
      .option(...PLAN)
      .action((id: string, { plan }: Planned) =>
        call((api) => (word === 'suspend' ? api.suspendOrganization : api.resumeOrganization)({ path: { id }, query: { dryRun: plan } })),
      )
  }
}

/** Adds `keys …`: API keys of users. */
export function addUserKeys(program: Command, call: Call): void {
  const keys = program.command('keys').description('API keys')
  keys
    .command('create <user>')
    .description('create a key for a user (id or email); it is shown only once')
    .requiredOption('--name <name>', 'name of the key')
    .option('--permission <permission>', 'permission of the key: ALL, READ_ONLY or RESTRICTED')
    .option('--scopes <scopes>', 'scopes of a RESTRICTED key, separated by commas', splitList)
    .option('--expires-at <time>', 'time from which the key is refused, as RFC 3339')
    .action((user: string, body: ApiBody<'createKey'>) => {
      return call(async (api) => api.createKey({ path: await userOf(api, user), body }))
    })
  keys
    .command('list <user>')
    .description('list the keys of a user (id or email), without their secrets')
    .action((user: string) => call(async (api) => api.listKeys({ path: await userOf(api, user) })))
  keys
    .command('delete <id>')
    .description('revoke a key')
    .option(...PLAN)
    .action((id: string, { plan }: Planned) => call((api) => api.revokeKey({ path: { id }, query: { dryRun: plan } })))
}
