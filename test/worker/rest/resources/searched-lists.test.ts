import { type Account, api, createAccount, createEndpoint, describe, env, expect, it, teamOf } from '../../../support/harness.ts'

const NAMES = ['b', 'Train', 'a', 'retrain']

interface Kind {
  path: string
  list: string
  table: string
  isPaged: boolean
  create: (account: Account, name: string) => Promise<unknown>
}

const posted = (path: string, body: object) => async (account: Account, name: string) => {
  expect((await api(account.key).post(path, { ...body, name })).status).toBe(201)
}

const KINDS: readonly Kind[] = [
  {
    path: '/v2/serverless',
    list: 'endpoints',
    table: 'endpoints',
    isPaged: true,
    create: ({ key }, name) => createEndpoint(key, { name }),
  },
  {
    path: '/v2/templates',
    list: 'templates',
    table: 'templates',
    isPaged: true,
    create: posted('/v2/templates', { image: 'registry.example.com/pytorch:2' }),
  },
  {
    path: '/v2/network-volumes',
    list: 'networkVolumes',
    table: 'network_volumes',
    isPaged: false,
    create: posted('/v2/network-volumes', { size: 10, dataCenter: 'EU-RO-1' }),
  },
  {
    path: '/v2/global-volumes',
    list: 'globalVolumes',
    table: 'global_volumes',
    isPaged: false,
    create: posted('/v2/global-volumes', {}),
  },
  { path: '/v2/clusters', list: 'clusters', table: 'clusters', isPaged: false, create: insertCluster },
]

async function insertCluster(account: Account, name: string): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO clusters (id, team_id, name, type, gpu_type_id, gpu_count_per_pod, pod_count, data_center_id, on_host_loss, version, created_at)
     VALUES (?, ?, ?, 'TRAINING', 'NVIDIA L4', 1, 2, 'EU-RO-1', 'WAIT', 1, 1)`,
  )
    .bind(crypto.randomUUID(), await teamOf(account), name)
    .run()
}

/** An account with one item of each name, the first one the oldest. */
async function filled({ table, create }: Kind): Promise<Account> {
  const account = await createAccount()
  const teamId = await teamOf(account)
  for (const [n, name] of NAMES.entries()) {
    await create(account, name)
    await env.DB.prepare(`UPDATE ${table} SET created_at = ? WHERE team_id = ? AND name = ?`)
      .bind(1_000 + n, teamId, name)
      .run()
  }
  return account
}

async function listed({ path, list }: Kind, { key }: Account, query: string) {
  const { status, body } = await api(key).get(`${path}?${query}`)
  expect(status, query).toBe(200)
  return { names: body[list].map(({ name }: { name: string }) => name), next: body.pagination?.nextCursor ?? null, counts: body.counts }
}

describe.each(KINDS)('the list of $list', (kind) => {
  it('[PAG-20] [PAG-21] is searched by name and ordered, in the own account only', async () => {
    const account = await filled(kind)
    const other = await createAccount()
    await kind.create(other, 'training of another')
    expect((await listed(kind, account, '')).names).toEqual(['retrain', 'a', 'Train', 'b'])
    expect((await listed(kind, account, 'sort=oldest')).names).toEqual(NAMES)
    expect((await listed(kind, account, 'sort=name')).names).toEqual(['a', 'b', 'retrain', 'Train'])
    expect((await listed(kind, account, 'name=TRAIN')).names).toEqual(['retrain', 'Train'])
    expect((await listed(kind, account, 'name=train&sort=oldest')).names).toEqual(['Train', 'retrain'])
    expect((await listed(kind, account, 'name=%25')).names).toEqual([])
    expect((await api(account.key).get(`${kind.path}?sort=size`)).status).toBe(422)
  })
})

describe.each(KINDS.filter(({ isPaged }) => isPaged))('the paged list of $list', (kind) => {
  it('[PAG-21] [PAG-24] has pages in each order, with the number of all', async () => {
    const account = await filled(kind)
    for (const [sort, names] of [
      ['newest', ['retrain', 'a', 'Train', 'b']],
      ['oldest', NAMES],
      ['name', ['a', 'b', 'retrain', 'Train']],
    ] as const) {
      const first = await listed(kind, account, `limit=3&sort=${sort}&include=COUNTS`)
      expect(first).toEqual({ names: names.slice(0, 3), next: expect.any(String), counts: { total: 4 } })
      expect(await listed(kind, account, `limit=3&sort=${sort}&cursor=${first.next}`)).toMatchObject({ names: names.slice(3), next: null })
      const elsewhere = sort === 'name' ? 'oldest' : 'name'
      expect((await api(account.key).get(`${kind.path}?sort=${elsewhere}&cursor=${first.next}`)).status).toBe(422)
    }
    expect(await listed(kind, account, 'name=retrain&include=COUNTS')).toMatchObject({ names: ['retrain'], counts: { total: 4 } })
  })
})
