import { Template } from '../../../../src/contract/resources/templates.ts'
import { findTemplate } from '../../../../src/services/resources/templates.ts'
import { api, createAccount, createKey, describe, env, expect, IMAGE_REFUSAL, it, teamOf } from '../../../support/harness.ts'
import { insertPod, multiply, statusesWith, terminatePod } from '../../../support/pods/resources.ts'

const PATH = '/v2/templates'
const BODY = { name: 'pytorch', image: 'registry.example.com/pytorch:2' }
const TAKEN = { status: 400, body: { detail: 'Template name must be unique.', code: 'RULE' } }
const MOUNTS = { persistent: { size: 10, path: '/workspace' } }

async function create(key: string, changes: object = {}) {
  const reply = await api(key).post(PATH, { ...BODY, name: crypto.randomUUID(), ...changes })
  expect(reply.status).toBe(201)
  return reply.body
}

async function createRegistry(key: string): Promise<string> {
  return (await api(key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
}

describe('create', () => {
  it('[TPL-1][TPL-2][TPL-3][CON-5] answers 201 with the documented defaults, whole', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, BODY)
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      ...BODY,
      args: '',
      cmd: [],
      entrypoint: [],
      disk: 10,
      env: {},
      ports: [],
      registry: null,
      mounts: {},
      serverless: false,
      public: false,
      category: 'NVIDIA',
      startSsh: true,
      startJupyter: true,
      allowedCudaVersions: [],
    })
    expect(Template.parse(reply.body)).toEqual(reply.body)
    expect(await api(key).get(`${PATH}/${reply.body.id}`)).toMatchObject({ status: 200, body: reply.body })
  })

  it('[TPL-2][TPL-3][CON-2] keeps every named member', async () => {
    const { key } = await createAccount()
    const named = {
      name: 'all',
      image: 'i:1',
      entrypoint: ['sh'],
      cmd: ['-c', 'sleep 1'],
      disk: 50,
      env: { PEM: 'a\nb\tc' },
      ports: ['8888/http', '22/tcp'],
      registry: await createRegistry(key),
      mounts: MOUNTS,
      serverless: true,
      public: true,
      category: 'CPU',
      startSsh: false,
      startJupyter: false,
      allowedCudaVersions: ['12.8'],
    }
    const template = await create(key, named)
    expect(template).toEqual({ id: template.id, ...named, args: '{"entrypoint":["sh"],"cmd":["-c","sleep 1"]}' })
    expect((await api(key).get(`${PATH}/${template.id}`)).body).toEqual(template)
  })

  const REFUSED: [string, object, number, unknown][] = [
    ['[TPL-2] no name', { name: undefined }, 422, ["$: missing property 'name'"]],
    ['[RES-9] a name of 192 characters', { name: 'x'.repeat(192) }, 422, ['$.name: maxLength: got 192, want 191']],
    ['[TPL-2] no image', { image: undefined }, 422, ["$: missing property 'image'"]],
    ['[TPL-2] an empty image', { image: '' }, 422, ['$.image: minLength: got 0, want 1']],
    ['[TPL-2] another category', { category: 'TPU' }, 422, ["$.category: value must be one of 'CPU', 'NVIDIA', 'AMD'"]],
    [
      '[TPL-2] a CUDA version without minor',
      { allowedCudaVersions: ['12'] },
      422,
      ['$.allowedCudaVersions[0]: does not match pattern: want a version such as 12.8'],
    ],
    ['[MNT-6] a network mount', { mounts: { network: [] } }, 422, ["$.mounts: additional properties 'network' not allowed"]],
    ['[MNT-6] a global mount', { mounts: { ...MOUNTS, global: [] } }, 422, ["$.mounts: additional properties 'global' not allowed"]],
    [
      '[MNT-6] a persistent mount without path',
      { mounts: { persistent: { size: 10 } } },
      422,
      ["$.mounts.persistent: missing property 'path'"],
    ],
    [
      '[MNT-6] a persistent mount of 9 GB',
      { mounts: { persistent: { size: 9, path: '/w' } } },
      422,
      ['$.mounts.persistent.size: minimum: got 9, want 10'],
    ],
    [
      '[MNT-5] a relative path',
      { mounts: { persistent: { size: 10, path: 'w' } } },
      422,
      ['$.mounts.persistent.path: does not match pattern: want an absolute path such as /workspace'],
    ],
    [
      '[STRICT-1] an unknown member of a mount',
      { mounts: { persistent: { size: 10, path: '/w', x: 1 } } },
      422,
      ["$.mounts.persistent: additional properties 'x' not allowed"],
    ],
    ['[STRICT-1] an unknown member', { bogus: 1 }, 422, ["$: additional properties 'bogus' not allowed"]],
    [
      '[STRICT-1][TPL-4] an unknown member of registry',
      { registry: { id: 'x', y: 1 } },
      422,
      ["$.registry: additional properties 'y' not allowed"],
    ],
    ['[STRICT-2] null', { public: null }, 422, ['$.public: got null, want boolean']],
    ['[CON-6] a UDP port', { ports: ['53/udp'] }, 422, ['$.ports[0]: does not match pattern: want a port such as 8888/http or 22/tcp']],
    ['[CON-6] disk 0', { disk: 0 }, 422, ['$.disk: minimum: got 0, want 1']],
    [
      '[GEN-6] a control character in the name',
      { name: 'a\u0007' },
      422,
      ['$.name: does not match pattern: want text without control characters and marks of direction'],
    ],
    ['[GEN-6] [CON-20] a line break in the image', { image: 'a\nb' }, 422, [IMAGE_REFUSAL]],
    ['[CON-20] an image with a scheme', { image: 'https://docker.io/library/nginx:latest' }, 422, [IMAGE_REFUSAL]],
    [
      '[GEN-6] a control character in the path',
      { mounts: { persistent: { size: 10, path: '/\u0000' } } },
      422,
      ['$.mounts.persistent.path: does not match pattern: want an absolute path such as /workspace'],
    ],
    ['[GEN-6] NUL in an env value', { env: { A: '\u0000' } }, 422, ['$.env.A: does not match pattern: want text without NUL characters']],
    ['[CON-7] an unknown registry', { registry: 'nosuch' }, 400, 'container registry auth nosuch not found'],
    [
      '[CON-7][TPL-4] an unknown registry in the nested form',
      { registry: { id: 'nosuch' } },
      400,
      'container registry auth nosuch not found',
    ],
    ['[CON-3] two commands', { args: 'a', cmd: ['b'] }, 400, 'args and cmd or entrypoint describe different commands; send one form'],
  ]
  it.each(REFUSED)('%s is refused', async (_title, changes, status, text) => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, { ...BODY, ...changes })
    expect([reply.status, reply.body.errors ?? reply.body.detail]).toEqual([status, text])
    expect((await api(key).get(PATH)).body.templates).toEqual([])
  })

  it('[STRICT-1] __proto__ is 422 in every place', async () => {
    const { key } = await createAccount()
    for (const [member, location] of [
      ['"__proto__":{}', '$'],
      ['"env":{"__proto__":"x"}', '$.env'],
    ]) {
      const reply = await api(key).post(PATH, `{${member},${JSON.stringify(BODY).slice(1)}`)
      expect(reply).toMatchObject({ status: 422, body: { errors: [`${location}: additional properties '__proto__' not allowed`] } })
    }
  })

  it('[TPL-4][CON-7] registry is an id, an object with one, null or empty; never one of another account', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const id = await createRegistry(mine.key)
    for (const [asked, read] of [
      [id, id],
      [{ id }, id],
      [null, null],
      ['', null],
      [{ id: '' }, null],
    ]) {
      expect((await create(mine.key, { registry: asked })).registry).toBe(read)
    }
    expect(await api(theirs.key).post(PATH, { ...BODY, registry: id })).toMatchObject({
      status: 400,
      body: { detail: `container registry auth ${id} not found` },
    })
  })

  it('[TPL-6] a second one of that name is 400, in this account only', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const first = await create(mine.key, { name: 'a' })
    expect(await api(mine.key).post(PATH, { ...BODY, name: 'a' })).toMatchObject(TAKEN)
    await create(theirs.key, { name: 'a' })
    await api(mine.key).delete(`${PATH}/${first.id}`)
    await create(mine.key, { name: 'a' })
  })

  it('[TPL-6] of many simultaneous creates with one name, one succeeds', async () => {
    const { key } = await createAccount()
    const replies = await Promise.all(Array.from({ length: 8 }, () => api(key).post(PATH, BODY)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400, 400, 400])
    expect(replies.filter(({ status }) => status === 400).every(({ body }) => body.detail === TAKEN.body.detail)).toBe(true)
    expect((await api(key).get(PATH)).body.templates).toHaveLength(1)
  })

  it('[RES-1] an account has at most 1000', async () => {
    const account = await createAccount()
    await create(account.key)
    await multiply('templates', 'name, is_public, config, revision, created_at', account, 999)
    expect(await api(account.key).post(PATH, BODY)).toMatchObject({
      status: 400,
      body: { detail: 'an account has at most 1000 templates; delete one first' },
    })
  })
})

describe('list', () => {
  it('[TPL-1][PAG-1][PAG-2][AUT-5] is newest first, of the own account alone, public ones of others left out', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    expect((await api(mine.key).get(PATH)).body).toEqual({ templates: [], pagination: { nextCursor: null, hasNextPage: false } })
    const templates = [await create(mine.key), await create(mine.key), await create(mine.key)]
    await create(theirs.key, { public: true })
    for (const [index, { id }] of templates.entries()) {
      await env.DB.prepare('UPDATE templates SET created_at = ? WHERE id = ?').bind(index, id).run()
    }
    expect((await api(mine.key).get(PATH)).body).toEqual({
      templates: [...templates].reverse(),
      pagination: { nextCursor: null, hasNextPage: false },
    })
  })

  it('[PAG-8] a walk of the cursors meets each template once, whatever is created or deleted in between', async () => {
    const { key } = await createAccount()
    const ids: string[] = []
    for (let index = 0; index < 7; index += 1) ids.push((await create(key)).id)
    // All are created in the same millisecond, so only the id orders them.
    await env.DB.prepare(`UPDATE templates SET created_at = 5 WHERE id IN (${ids.map(() => '?').join()})`)
      .bind(...ids)
      .run()
    const [seen, deleted]: [string[], string[]] = [[], []]
    let cursor: string | null = null
    do {
      const page = await api(key).get(`${PATH}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      const shown = page.body.templates.map(({ id }: { id: string }) => id)
      seen.push(...shown)
      await create(key)
      const ahead = ids.find((id) => !seen.includes(id) && !deleted.includes(id))
      for (const id of [shown.at(-1), deleted.length === 0 ? ahead : undefined]) {
        if (id === undefined) continue
        expect((await api(key).delete(`${PATH}/${id}`)).status).toBe(204)
        deleted.push(id)
      }
      cursor = page.body.pagination.nextCursor
    } while (cursor !== null)
    expect(new Set(seen).size).toBe(seen.length)
    expect(ids.filter((id) => !deleted.includes(id) && !seen.includes(id))).toEqual([])
  })

  it('[RES-9][PAG-8] a page ends before it is too large; the cursor leads through all of them', async () => {
    const account = await createAccount()
    await create(account.key, { env: { A: 'x'.repeat(100_000) } })
    await multiply('templates', 'name, is_public, config, revision, created_at', account, 99)
    const sizes: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await api(account.key).get(`${PATH}?limit=1000${cursor && `&cursor=${cursor}`}`)
      sizes.push(body.templates.length)
      expect(body.pagination.hasNextPage).toBe(body.pagination.nextCursor !== null)
      cursor = body.pagination.nextCursor
    }
    expect(sizes).toEqual([62, 38])
  })

  it('[PAG-2][PAG-3] a bad limit or a cursor of another list is 422', async () => {
    const { key } = await createAccount()
    await api(key).post('/v2/serverless', { name: 'a', image: 'i', gpu: { pools: ['ADA_24'] } })
    await api(key).post('/v2/serverless', { name: 'b', image: 'i', gpu: { pools: ['ADA_24'] } })
    const { nextCursor } = (await api(key).get('/v2/serverless?limit=1')).body.pagination
    expect(nextCursor).toEqual(expect.any(String))
    for (const query of ['limit=0', 'limit=1001', 'cursor=', 'cursor=abc', `cursor=${nextCursor}`]) {
      expect((await api(key).get(`${PATH}?${query}`)).status, query).toBe(422)
    }
  })
})

describe('read', () => {
  it('[TPL-1][TPL-3] a public one of another account by its id, with registry null', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const registry = await createRegistry(theirs.key)
    const template = await create(theirs.key, { public: true, registry, env: { A: '1' } })
    expect(template.registry).toBe(registry)
    expect(await api(mine.key).get(`${PATH}/${template.id}`)).toMatchObject({ status: 200, body: { ...template, registry: null } })
    await api(theirs.key).patch(`${PATH}/${template.id}`, { public: false })
    expect((await api(mine.key).get(`${PATH}/${template.id}`)).status).toBe(404)
    expect((await api(theirs.key).get(`${PATH}/${template.id}`)).body.registry).toBe(registry)
  })

  it('[RES-5][AUT-5] a public one takes no scope; a key without templates:read gets nothing of any other', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const [shared, hidden] = [await create(theirs.key, { public: true }), await create(theirs.key)]
    const own = await create(mine.key)
    const jobs = api((await createKey(mine.userId, { permission: 'RESTRICTED', scopes: ['jobs:read'] })).key)
    expect((await jobs.get(`${PATH}/${shared.id}`)).body).toEqual(shared)
    for (const id of [hidden.id, own.id, 'nosuchtemplate']) expect((await jobs.get(`${PATH}/${id}`)).status).toBe(403)
  })

  it('[TPL-1] findTemplate returns the templates that a team may use, those of others without their credential', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const registry = await createRegistry(theirs.key)
    const [shared, hidden] = [await create(theirs.key, { public: true, registry }), await create(theirs.key)]
    const [myTeam, theirTeam] = [await teamOf(mine), await teamOf(theirs)]
    expect((await findTemplate(env, myTeam, shared.id))?.container.registry).toBeNull()
    expect((await findTemplate(env, theirTeam, shared.id))?.container.registry).toBe(registry)
    expect(await findTemplate(env, myTeam, hidden.id)).toBeNull()
    expect(await findTemplate(env, myTeam, 'nosuchtemplate')).toBeNull()
  })
})

describe('update', () => {
  it('[STRICT-3][CON-4] omitted members stay, empty values clear', async () => {
    const { key } = await createAccount()
    const template = await create(key, {
      cmd: ['a'],
      entrypoint: ['b'],
      env: { A: '1' },
      ports: ['22/tcp'],
      mounts: MOUNTS,
      registry: await createRegistry(key),
      allowedCudaVersions: ['12.8'],
    })
    const path = `${PATH}/${template.id}`
    expect(await api(key).patch(path, {})).toMatchObject({ status: 200, body: template })
    const renamed = { ...template, name: 'renamed', startSsh: false, category: 'AMD' }
    expect((await api(key).patch(path, { name: 'renamed', startSsh: false, category: 'AMD' })).body).toEqual(renamed)
    const cleared = { cmd: [], env: {}, ports: [], mounts: {}, registry: null, allowedCudaVersions: [] }
    const bare = { ...renamed, ...cleared, args: '{"entrypoint":["b"]}' }
    expect((await api(key).patch(path, cleared)).body).toEqual(bare)
    expect((await api(key).get(path)).body).toEqual(bare)
  })

  it('[CON-3] a response can be written back', async () => {
    const { key } = await createAccount()
    const { id, ...template } = await create(key, { args: 'python "a b.py"', mounts: MOUNTS })
    expect((await api(key).patch(`${PATH}/${id}`, template)).body).toEqual({ id, ...template })
  })

  it('[TPL-6] to the name of another one is 400; of two simultaneous ones, one succeeds', async () => {
    const { key } = await createAccount()
    const [a, b] = [await create(key, { name: 'a' }), await create(key, { name: 'b' })]
    expect(await api(key).patch(`${PATH}/${b.id}`, { name: 'a' })).toMatchObject(TAKEN)
    const replies = await Promise.all([a, b].map(({ id }) => api(key).patch(`${PATH}/${id}`, { name: 'c' })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  it('two simultaneous changes are both kept', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    // On a busy machine two requests may run one after the other; of several pairs, at least one runs at once.
    for (const disk of [71, 72, 73, 74, 75, 76]) {
      const env = { A: String(disk) }
      const replies = await Promise.all([{ env }, { disk }].map((change) => api(key).patch(`${PATH}/${id}`, change)))
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
      expect((await api(key).get(`${PATH}/${id}`)).body).toMatchObject({ env, disk })
    }
  })

  it('[REST-5][CON-7][MNT-6] is checked like a create', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    for (const [body, status, text] of [
      [{ image: '' }, 400, 'image cannot be empty'],
      [{ registry: 'nosuch' }, 400, 'container registry auth nosuch not found'],
      [{ mounts: { network: [{ volumeId: 'x', path: '/x' }] } }, 422, ["$.mounts: additional properties 'network' not allowed"]],
      [{ bogus: 1 }, 422, ["$: additional properties 'bogus' not allowed"]],
      [{ name: '' }, 422, ['$.name: minLength: got 0, want 1']],
      [{ env: { A: 1 } }, 422, ['$.env.A: got number, want string']],
    ] as const) {
      const reply = await api(key).patch(`${PATH}/${id}`, body)
      expect([reply.status, reply.body.errors ?? reply.body.detail]).toEqual([status, text])
    }
  })
})

describe('delete', () => {
  it('[TPL-1] answers 204, then the template is gone', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    expect(await api(key).delete(`${PATH}/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(`${PATH}/${id}`)).status).toBe(404)
    expect((await api(key).delete(`${PATH}/${id}`)).status).toBe(404)
  })

  it('[TPL-5][RES-4] is 400 while a live pod of the account was made from it; pods of others do not count', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const { id } = await create(mine.key, { public: true })
    await insertPod(await teamOf(theirs), { template_id: id })
    const pod = await insertPod(await teamOf(mine), { template_id: id, status: 'EXITED' })
    expect(await api(mine.key).delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: { detail: `template ${id} is in use by a pod and cannot be deleted`, code: 'IN_USE' },
    })
    await terminatePod(pod)
    expect((await api(mine.key).delete(`${PATH}/${id}`)).status).toBe(204)
  })
})

describe('access', () => {
  it('[TPL-1][AUT-5] PATCH and DELETE of a template of another account are 404, public or not', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const templates = [await create(theirs.key, { public: true }), await create(theirs.key)]
    for (const id of [...templates.map((template) => template.id), 'nosuchtemplate']) {
      for (const reply of [await api(mine.key).patch(`${PATH}/${id}`, { name: 'x' }), await api(mine.key).delete(`${PATH}/${id}`)]) {
        expect(reply).toMatchObject({ status: 404, body: { detail: 'resource not found' } })
      }
    }
    expect((await api(mine.key).get(`${PATH}/${templates[1].id}`)).status).toBe(404)
    expect((await api(theirs.key).get(PATH)).body.templates).toHaveLength(2)
  })

  it('[AUT-5] reading and writing take their scopes', async () => {
    const account = await createAccount()
    const path = `${PATH}/nosuchtemplate`
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, BODY],
      ['patch', path, { name: 'x' }],
      ['delete', path],
    ]
    expect(await statusesWith(account, 'templates:read', calls)).toEqual([200, 404, 403, 403, 403])
    expect(await statusesWith(account, 'templates:write', calls)).toEqual([403, 403, 201, 404, 404])
  })
})
