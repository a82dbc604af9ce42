import { Command, InvalidArgumentError } from 'commander'
import { type ApiBody, type ApiClient, ApiError, ConnectionError, createApiClient } from '../client/client.ts'
import { newOperatorKey } from '../local/data-dir.ts'
import { errorText, OperatorError } from '../node/fail.ts'
import { addCatalogCommands } from './catalog.ts'
import { printAnswer } from './output.ts'
import { resealAll, rotateMaster } from './reseal.ts'
import { findTarget } from './target.ts'

// `npm run admin -- …`: the operator API from a shell.

const program = new Command('admin')
  .description('Operate a podplane: accounts, keys, quotas, machines.')
  .option('--url <url>', 'the plane (default: the local one); its operator key is read from PODPLANE_OPERATOR_KEY')
  .option('--json', 'print the answer as JSON', false)
  .showHelpAfterError()

const users = program.command('users').description('people with an account')
users
  .command('create <email>')
  .description('create a user with an account of their own')
  .action((email: string) => call((api) => api.createUser({ body: { email } })))
users
  .command('list')
  .description('list users')
  .option('--email <email>', 'only the one with this address')
  .action(({ email }: { email?: string }) => {
    return call((api) => api.listUsers({ query: { email } }))
  })
users
  .command('suspend <user>')
  .description('end the keys, streams, workers and pods of a user (id or email); jobs wait')
  .action((user: string) => call(async (api) => api.suspendUser({ path: await userOf(api, user) })))
users
  .command('resume <user>')
  .description('end a suspension; pods that it stopped start again where there is room')
  .action((user: string) => call(async (api) => api.resumeUser({ path: await userOf(api, user) })))

users
  .command('free-identities <user>')
  .description('forget as whom a user (id or email) has signed in; the next verified sign-in with that address is linked')
  .action((user: string) => call(async (api) => api.freeIdentities({ path: await userOf(api, user) })))
users
  .command('delete <user>')
  .description('end the work of a user (id or email) and delete the account; usage stays for the bill')
  .action((user: string) => call(async (api) => api.deleteUser({ path: await userOf(api, user) })))

const organizations = program.command('organizations').description('accounts that several people share')
for (const [word, effect] of [
  ['suspend', 'end the keys, streams, workers and pods of an organization (id); jobs wait'],
  ['resume', 'end a suspension; pods that it stopped start again where there is room'],
] as const) {
  organizations
    .command(`${word} <id>`)
    .description(effect)
    .action((id: string) => call((api) => (word === 'suspend' ? api.suspendOrganization : api.resumeOrganization)({ path: { id } })))
}

const keys = program.command('keys').description('API keys')
keys
  .command('create <user>')
  .description('make a key for a user (id or email); it is shown this once')
  .requiredOption('--name <name>', 'what the key is for')
  .option('--permission <permission>', 'ALL, READ_ONLY or RESTRICTED')
  .option('--scopes <scopes>', 'scopes of a RESTRICTED key, with commas between them', splitList)
  .option('--expires-at <time>', 'RFC 3339 time from which the key is refused')
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
  .action((id: string) => call((api) => api.revokeKey({ path: { id } })))

program
  .command('quotas')
  .description('REST requests that an account may send')
  .command('set <user>')
  .description('override the quotas of a user (id or email)')
  .requiredOption('--minute <n>', 'requests in a minute', parseCount)
  .requiredOption('--hour <n>', 'requests in an hour', parseCount)
  .requiredOption('--day <n>', 'requests in a day', parseCount)
  .option('--exempt', 'count nothing', false)
  .action((user: string, body: ApiBody<'setQuotas'>) => {
    return call(async (api) => api.setQuotas({ path: await userOf(api, user), body }))
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
  .action((user: string, { runtimeClass }: { runtimeClass: string }) => {
    const body = { runtimeClass: runtimeClass === 'any' ? null : runtimeClass } as ApiBody<'setIsolation'>
    return call(async (api) => api.setIsolation({ path: await userOf(api, user), body }))
  })

const budgets = program.command('budgets').description('what an account may hold')
budgets
  .command('get <user>')
  .description('show the budgets of a user (id or email) that differ from the defaults')
  .action((user: string) => call(async (api) => api.getBudgets({ path: await userOf(api, user) })))
budgets
  .command('set <user> [budgets...]')
  .description('set them, such as gpus=64 queuedBytes=1073741824; what is left out is the default again')
  .action((user: string, given: string[]) => {
    return call(async (api) => api.setBudgets({ path: await userOf(api, user), body: parseBudgets(given) }))
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
  .action((user: string, body: ApiBody<'setSpendCeilings'>) => {
    return call(async (api) => api.setSpendCeilings({ path: await userOf(api, user), body }))
  })

addCatalogCommands(program, call)

const joinTokens = program.command('join-tokens').description('tokens with which machines join')
joinTokens
  .command('create')
  .description('make a token for one machine; it is shown this once')
  .option('--name <name>', 'name of the machine')
  .option('--data-center <id>', 'data center of the machine')
  .option('--cloud <tier>', 'SECURE or COMMUNITY (default: SECURE)')
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
  .action((id: string) => call((api) => api.revokeJoinToken({ path: { id } })))

const hosts = program.command('hosts').description('machines')
hosts
  .command('list')
  .description('list machines')
  .action(() => call((api) => api.listHosts()))
hosts
  .command('get <id>')
  .description('show one machine')
  .action((id: string) => call((api) => api.getHost({ path: { id } })))
hosts
  .command('cordon <id>')
  .description('give a machine no new work; what runs there stays')
  .option('--reason <text>', 'shown with the machine')
  .action((id: string, body: { reason?: string }) => call((api) => api.cordonHost({ path: { id }, body })))
hosts
  .command('uncordon <id>')
  .description('give a machine new work again; ends a drain')
  .action((id: string) => call((api) => api.uncordonHost({ path: { id } })))
hosts
  .command('drain <id>')
  .description('cordon a machine and let its workers leave once they have finished')
  .option('--reason <text>', 'shown with the machine')
  .action((id: string, body: { reason?: string }) => call((api) => api.drainHost({ path: { id }, body })))
hosts
  .command('remove <id>')
  .description('withdraw the enrolment of a machine that holds nothing')
  .action((id: string) => call((api) => api.removeHost({ path: { id } })))

const secrets = program.command('secrets').description('what the plane keeps sealed')
secrets
  .command('rotate-master')
  .description('seal everything under the present TOKEN_SECRET until nothing is left of a former one; to be begun again at any time')
  .action(() =>
    call(async (api) => {
      const report = await rotateMaster(api)
      if (!report.done) process.exitCode = 1
      return report
    }),
  )
secrets
  .command('reseal')
  .description('one walk of that')
  .action(() =>
    call(async (api) => {
      const { isComplete, ...report } = await resealAll(api)
      if (!isComplete) process.exitCode = 1
      return report
    }),
  )

program
  .command('operator-key')
  .description('print a new operator key, for the secret OPERATOR_KEY of a plane; asks no plane')
  .action(() => printAnswer(newOperatorKey(), false))

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`${describe(error)}\n`)
  process.exitCode = 1
}

async function call(send: (api: ApiClient) => Promise<unknown>): Promise<void> {
  const { url, json } = program.opts<{ url?: string; json: boolean }>()
  const target = findTarget(url, process.env)
  try {
    printAnswer(await send(createApiClient(target.url, target.operatorKey)), json)
  } catch (error) {
    if (error instanceof ApiError || error instanceof OperatorError) throw error
    throw new OperatorError(`no answer from ${target.url}: ${errorText(error instanceof ConnectionError ? error.cause : error)}`)
  }
}

/** People know a user by the address, the API by the id. */
async function userOf(api: ApiClient, user: string): Promise<{ id: string }> {
  if (!user.includes('@')) return { id: user }
  const [found] = (await api.listUsers({ query: { email: user } })).users
  if (found === undefined) throw new OperatorError(`no user has the address ${user}`)
  return { id: found.id }
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function parseBudgets(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((text) => {
      const match = /^(\w+)=(\d+)$/.exec(text)
      if (match?.[1] === undefined) throw new OperatorError(`${text}: it must be <budget>=<whole number>`)
      return [match[1], Number(match[2])]
    }),
  )
}

function parseCount(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('it must be a whole number from 1')
  return Number(value)
}

function parseUsd(value: string): number {
  if (!/^\d+(\.\d{1,6})?$/.test(value)) throw new InvalidArgumentError('it must be an amount in USD such as 80 or 12.50')
  return Number(value)
}

function describe(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return `${error.message}; check PODPLANE_OPERATOR_KEY`
  if (error instanceof ApiError || error instanceof OperatorError) return error.message
  return (error instanceof Error && error.stack) || errorText(error)
}
