import type { Command } from 'commander'
import { type Column, columns } from '../output/columns.ts'
import { act, actLater, collect, duration, examples, noun, plannable, planOne, wholeNumber } from '../session/act.ts'
import { type Answer, readPages } from '../session/pages.ts'

/** Adds the commands of the account: keys, SSH keys, webhooks, billing, audit log, events, catalog. */
export function addAccount(program: Command): void {
  addKeys(program)
  addSshKeys(program)
  addWebhooks(program)
  addMoney(program)
  addAudit(program)
  addEvents(program)
  addCatalog(program)
}

function addKeys(program: Command): void {
  const keys = noun(program, 'keys', ['key'], 'API keys of the account')
  act(keys.command('list').alias('ls').description('list keys, without their secrets'), async (session) => {
    const answer = await session.api.listAccountKeys()
    const shown = columns<(typeof answer.keys)[number]>('id', 'name', 'permission', 'createdAt', 'expiresAt')
    session.out.list(answer, answer.keys, { columns: shown, idOf: ({ id }) => id, empty: 'no keys' })
  })
  const create = keys
    .command('create <name>')
    .description('create a key; it is shown only once')
    .option('--read-only', 'create a key that may only read')
    .option('--scope <scope>', 'scope of the key, such as jobs:write; repeatable', collect)
    .option('--expires-at <time>', 'time from which the key is refused, as RFC 3339')
  act(
    create,
    async (session, { readOnly, scope, expiresAt }: { readOnly?: boolean; scope?: string[]; expiresAt?: string }, name: string) => {
      const permission = scope !== undefined ? 'RESTRICTED' : readOnly ? 'READ_ONLY' : 'ALL'
      const key = await session.api.createAccountKey({
        body: { name, permission, ...(scope && { scopes: scope }), ...(expiresAt && { expiresAt }) },
      })
      session.out.record(key, key.id)
      session.out.talk('store the key: it is not shown again')
    },
  )
  examples(create, 'keys create ci --scope serverless:read --scope jobs:write', 'keys create dashboard --read-only --json key')
  const rotate = plannable(
    keys
      .command('rotate <id>')
      .description('replace a key with a new one; the previous key stays valid for a while')
      .option('--overlap <seconds>', 'time for which the previous key stays valid', wholeNumber),
  )
  act(rotate, async (session, { overlap, plan }: { overlap?: number; plan?: boolean }, id: string) => {
    const given = { path: { id }, body: overlap === undefined ? {} : { overlapSeconds: overlap } }
    if (plan) return planOne(session, (query) => session.api.rotateAccountKey({ ...given, query }))
    const key = await session.api.rotateAccountKey(given)
    session.out.record(key, key.id)
    session.out.talk('store the key: it is not shown again')
  })
  const remove = plannable(keys.command('delete <id>').aliases(['rm', 'revoke']).description('revoke a key'))
  act(remove, async (session, { plan }: { plan?: boolean }, id: string) => {
    if (plan) return planOne(session, (query) => session.api.revokeAccountKey({ path: { id }, query }))
    await session.confirm(`Revoke ${id}? Requests with it are refused.`)
    await session.api.revokeAccountKey({ path: { id } })
    session.out.done(undefined, id, `key ${id} is revoked`)
  })
}

function addSshKeys(program: Command): void {
  const keys = noun(program, 'ssh-keys', ['ssh-key'], 'public keys for SSH access to pods')
  act(keys.command('list').alias('ls').description('list SSH keys'), async (session) => {
    const answer = await session.api.getSshKeys()
    const rows = answer.keys.map((line, at) => {
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- a plane of an earlier release does not report it
      const maker = answer.makers?.[at]
      return { line, addedBy: maker?.userId ?? null, endedBecause: maker?.endedBecause ?? null }
    })
    session.out.list(answer, rows, {
      columns: columns<(typeof rows)[number]>('line', 'addedBy', 'endedBecause'),
      idOf: ({ line }) => line,
      empty: 'no SSH keys; podplane ssh-keys add ~/.ssh/id_ed25519.pub registers one',
    })
  })
  const add = plannable(keys.command('add <file>').description('register a public key'))
  actLater(add, async () => (await import('../account/ssh-keys.ts')).addSshKey)
  examples(add, 'ssh-keys add ~/.ssh/id_ed25519.pub')
  const remove = plannable(
    keys.command('remove <text>').alias('rm').description('remove the keys that contain this text, such as a comment'),
  )
  actLater(remove, async () => (await import('../account/ssh-keys.ts')).removeSshKeys)
  examples(remove, 'ssh-keys remove ada@example.com --plan')
}

function addWebhooks(program: Command): void {
  const webhooks = noun(program, 'webhooks', ['webhook'], 'deliveries of notifications')
  act(
    webhooks
      .command('list')
      .alias('ls')
      .description('list deliveries')
      .option('--all', 'show all, not only the first 50')
      .option('--endpoint <endpoint>', 'only deliveries of this endpoint'),
    async (session, { all, endpoint }: { all?: boolean; endpoint?: string }) => {
      const { api } = session
      const answer = await readPages(session, (query) => api.listWebhookDeliveries({ query: { ...query, endpointId: endpoint } }), all)
      const shown: Column<(typeof answer.deliveries)[number]>[] = [
        ...columns<(typeof answer.deliveries)[number]>('id', 'status', 'endpointId', 'jobId', 'createdAt'),
        { name: 'attempts', of: ({ attempts }: { attempts: unknown[] }) => attempts.length },
      ]
      session.out.list(answer, answer.deliveries, { columns: shown, idOf: ({ id }) => id, empty: 'no deliveries' })
    },
  )
  act(webhooks.command('redeliver <id>').description('send a delivery again'), async (session, _options, id: string) => {
    session.out.done(await session.api.redeliverWebhook({ path: { id } }), id, `delivery ${id} is being sent again`)
  })
  act(
    webhooks.command('secret').description('print the secret that signs the deliveries').option('--rotate', 'create a new secret'),
    async (session, { rotate }: { rotate?: boolean }) => {
      session.out.record(rotate ? await session.api.rotateWebhookSigningSecret() : await session.api.getWebhookSigningSecret())
    },
  )
}

const BILLS = {
  pod: 'listPodBilling',
  endpoint: 'listServerlessBilling',
  cluster: 'listClusterBilling',
  volume: 'listNetworkVolumeBilling',
} as const

function addMoney(program: Command): void {
  const usage = program
    .command('usage')
    .description('show the charges of the account')
    .option('--by <what>', `group the charges by one of day, ${Object.keys(BILLS).join(', ')}`, 'day')
    .option('--days <n>', 'number of days to show', '7')
  actLater(usage, async () => (await import('../account/usage.ts')).printUsage)
  examples(usage, 'usage', 'usage --by endpoint --days 30', 'usage --by pod --json')
  const spend = noun(program, 'spend', [], 'current costs')
  actLater(
    spend
      .command('status', { isDefault: true })
      .description('show the cost per hour, of today and of this month, and the resources that cause it'),
    async () => (await import('../account/usage.ts')).printSpend,
  )
  const stop = spend
    .command('stop [pod-or-endpoint...]')
    .description('stop pods and endpoints that cost money: all, or only the given ones; nothing is deleted')
    .option('--idle <duration>', 'only resources that have been idle for this long', duration)
    .option('--plan', 'show what would stop and what would keep running; change nothing')
  actLater(stop, async () => (await import('../account/stop-spend.ts')).stopSpend)
  examples(stop, 'spend stop --plan', 'spend stop --idle 30m --yes')
  actLater(spend.command('stops').description('list earlier stops'), async () => (await import('../account/stop-spend.ts')).listStops)
  actLater(
    spend.command('undo <id>').description('start the resources again that a stop has stopped'),
    async () => (await import('../account/stop-spend.ts')).undoStop,
  )
  act(spend.command('limits').description('show the spending limits'), async (session) =>
    session.out.record(await session.api.getSpendLimits()),
  )
  act(program.command('limits').description('show the limits of the account and their use'), async (session) =>
    session.out.record(await session.api.getAccountLimits()),
  )
}

function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description('show the audit log of the account')
    .option('--all', 'show all, not only the first 50')
    .option('--resource <id>', 'only changes of this resource')
    .option('--actor <id>', 'only changes by this user or key')
  act(audit, async (session, { all, resource, actor }: { all?: boolean; resource?: string; actor?: string }) => {
    const { api } = session
    const answer = await readPages(session, (query) => api.listAudit({ query: { ...query, resource, actor } }), all)
    const shown: Column<(typeof answer.entries)[number]>[] = [
      ...columns<(typeof answer.entries)[number]>('at', 'action'),
      { name: 'resource', of: (entry: (typeof answer.entries)[number]) => entry.resource.id },
    ]
    session.out.list(answer, answer.entries, { columns: shown, idOf: ({ id }) => id, empty: 'no changes' })
  })
}

function addEvents(program: Command): void {
  const events = noun(program, 'events', ['event'], 'show the events of the account, one sentence each')
    .option('--all', 'show all, not only the first 50')
    .option('--resource <id>', 'only events of this resource')
    .option('--actor <id>', 'only events caused by this user or key')
    .option('--action <action>', 'only events of this kind, such as pods.create')
    .option('--since <time>', 'only events since this time: a duration such as 1h, or an RFC 3339 time')
  actLater(events, async () => (await import('../account/events.ts')).listEvents)
  examples(events, 'events --since 1d', 'events --resource <pod>')
}

function addCatalog(program: Command): void {
  const gpus = noun(program, 'gpus', ['gpu'], 'GPU types, their prices and availability')
  act(gpus.command('list', { isDefault: true }).alias('ls').description('list GPU types'), async (session) => {
    const answer = await session.api.listGpuTypes({ query: { include: 'AVAILABILITY', product: 'POD' } })
    const shown: Column<Answer<'getGpuType'>>[] = [
      ...columns<Answer<'getGpuType'>>('id', 'memory', 'pool'),
      { name: 'pod', of: ({ price }) => price.secure, as: 'usdPerHour' },
      { name: 'worker', of: ({ price }) => price.serverless, as: 'usdPerHour' },
      { name: 'available', of: ({ availability }) => availability },
    ]
    session.out.list(answer, answer.gpus, { columns: shown, idOf: ({ id }) => id, empty: 'no GPU types are offered' })
  })
  const cpus = noun(program, 'cpus', ['cpu'], 'CPU flavors and their prices')
  act(cpus.command('list', { isDefault: true }).alias('ls').description('list CPU flavors'), async (session) => {
    const answer = await session.api.listCpuTypes()
    const shown: Column<Answer<'getCpuType'>>[] = [
      ...columns<Answer<'getCpuType'>>('id', 'name', 'group', 'ramGbPerVcpu'),
      { name: 'podVcpu', of: ({ price }) => price.securePerVcpu, as: 'usdPerHour' },
      { name: 'workerVcpu', of: ({ price }) => price.serverlessPerVcpu, as: 'usdPerHour' },
    ]
    session.out.list(answer, answer.cpus, { columns: shown, idOf: ({ id }) => id, empty: 'no CPU flavors are offered' })
  })
  const places = noun(program, 'data-centers', ['data-center'], 'places where pods and workers run')
  act(places.command('list', { isDefault: true }).alias('ls').description('list data centers'), async (session) => {
    const answer = await session.api.listDataCenters()
    const shown = columns<Answer<'getDataCenter'>>('id', 'name', 'region', 'networkVolumeTypes')
    session.out.list(answer, answer.dataCenters, { columns: shown, idOf: ({ id }) => id, empty: 'no data centers' })
  })
}
