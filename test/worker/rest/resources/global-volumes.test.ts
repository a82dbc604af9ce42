import { api, createAccount, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { insertPod, multiply, statusesWith, terminatePod } from '../../../support/pods/resources.ts'

const PATH = '/v2/global-volumes'
const TAKEN = { status: 400, body: { detail: 'Global volume name must be unique.', code: 'RULE' } }

async function create(key: string, name = 'models') {
  const reply = await api(key).post(PATH, { name })
  expect(reply.status).toBe(201)
  return reply.body
}

describe('global volumes', () => {
  it('[GLV-7] cost nothing, whatever their size: they are in neither bill nor rate, and no limit refuses them', async () => {
    const account = await createAccount()
    const call = api(account.key)
    expect((await call.patch('/v2/billing/limits', { perHour: 0, perMonth: 0 })).status).toBe(200)
    const volume = await create(account.key)
    await env.DB.prepare('UPDATE global_volumes SET used_bytes = ?, used_at = ?, created_at = created_at - 86400000 WHERE id = ?')
      .bind(5 * 2 ** 40, Date.now(), volume.id)
      .run()
    expect((await call.get(`${PATH}/${volume.id}`)).body.usedBytes).toBe(5 * 2 ** 40)
    expect((await call.get('/v2/billing/summary')).body).toMatchObject({ rate: { perHour: 0 }, month: { spent: 0, estimate: 0 } })
    const bill = (await call.get('/v2/billing?bucketSize=day&lastN=2')).body
    expect(JSON.stringify(bill)).not.toContain(volume.id)
    expect(Object.values(bill.metadata.totals as Record<string, number>).every((amount) => amount === 0)).toBe(true)
  })

  it('[GLV-1][GEN-2][GEN-3] are created, read, listed, renamed and deleted', async () => {
    const { key } = await createAccount()
    const volume = await create(key)
    expect(volume).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      name: 'models',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      usedBytes: null,
      usedAt: null,
    })
    expect(await api(key).get(`${PATH}/${volume.id}`)).toMatchObject({ status: 200, body: volume })
    expect((await api(key).get(PATH)).body).toEqual({ globalVolumes: [volume] })
    const renamed = { ...volume, name: 'other' }
    expect(await api(key).patch(`${PATH}/${volume.id}`, { name: 'other' })).toMatchObject({ status: 200, body: renamed })
    expect((await api(key).get(PATH)).body).toEqual({ globalVolumes: [renamed] })
    expect(await api(key).delete(`${PATH}/${volume.id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(`${PATH}/${volume.id}`)).status).toBe(404)
    expect((await api(key).delete(`${PATH}/${volume.id}`)).status).toBe(404)
  })

  it('[GLV-2][RES-8] have unique names: a second one is 400, also by renaming, in this account only', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const [first, second] = [await create(mine.key, 'a'), await create(mine.key, 'b')]
    expect(await api(mine.key).post(PATH, { name: 'a' })).toMatchObject(TAKEN)
    expect(await api(mine.key).patch(`${PATH}/${second.id}`, { name: 'a' })).toMatchObject(TAKEN)
    expect((await api(mine.key).patch(`${PATH}/${first.id}`, { name: 'a' })).status).toBe(200)
    await create(theirs.key, 'a')
    await api(mine.key).delete(`${PATH}/${first.id}`)
    await create(mine.key, 'a')
  })

  it('[GLV-2] of many simultaneous creates with one name, one succeeds; so does one of two renames', async () => {
    const { key } = await createAccount()
    const replies = await Promise.all(Array.from({ length: 8 }, () => api(key).post(PATH, { name: 'same' })))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400, 400, 400])
    const [a, b] = [await create(key, 'a'), await create(key, 'b')]
    const renames = await Promise.all([a, b].map(({ id }) => api(key).patch(`${PATH}/${id}`, { name: 'c' })))
    expect(renames.map(({ status }) => status).sort()).toEqual([200, 400])
    expect((await api(key).get(PATH)).body.globalVolumes).toHaveLength(3)
  })

  it('[GLV-2] a mounted one cannot be deleted until the pod is terminated', async () => {
    const account = await createAccount()
    const { id } = await create(account.key)
    const pod = await insertPod(await teamOf(account), { global_volume_id: id, status: 'EXITED' })
    expect(await api(account.key).delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: { detail: `global volume ${id} is in use by a pod and cannot be deleted`, code: 'IN_USE' },
    })
    await terminatePod(pod)
    expect((await api(account.key).delete(`${PATH}/${id}`)).status).toBe(204)
  })

  const REFUSED: [string, unknown, string][] = [
    ['[GLV-1][STRICT-1] a size', { name: 'a', size: 10 }, "$: additional properties 'size' not allowed"],
    ['[GLV-1][STRICT-3] no name', {}, "$: missing property 'name'"],
    ['[STRICT-2] null', { name: null }, '$.name: got null, want string'],
    ['[GLV-1] an empty name', { name: '' }, '$.name: minLength: got 0, want 1'],
    [
      '[GEN-6] a control character',
      { name: 'a\u007f' },
      '$.name: does not match pattern: want text without control characters and marks of direction',
    ],
    ['[STRICT-1] __proto__', '{"name":"a","__proto__":1}', "$: additional properties '__proto__' not allowed"],
  ]
  it.each(REFUSED)('%s is 422 on create and rename', async (_title, body, error) => {
    const { key } = await createAccount()
    const { id } = await create(key)
    expect(await api(key).post(PATH, body)).toMatchObject({ status: 422, body: { errors: [error] } })
    expect(await api(key).patch(`${PATH}/${id}`, body)).toMatchObject({ status: 422, body: { errors: [error] } })
  })

  it('[RES-1] an account has at most 1000', async () => {
    const account = await createAccount()
    await create(account.key)
    await multiply('global_volumes', 'name, created_at', account, 999)
    expect(await api(account.key).post(PATH, { name: 'one more' })).toMatchObject({
      status: 400,
      body: { detail: 'an account has at most 1000 global volumes; delete one first' },
    })
  })

  it('[AUT-5] an id that is unknown or of another account is the same 404', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const volume = await create(theirs.key)
    for (const path of [`${PATH}/${volume.id}`, `${PATH}/nosuchvolume`]) {
      for (const reply of [
        await api(mine.key).get(path),
        await api(mine.key).patch(path, { name: 'x' }),
        await api(mine.key).delete(path),
      ]) {
        expect(reply).toMatchObject({ status: 404, body: { detail: 'resource not found' } })
      }
    }
    expect((await api(mine.key).get(PATH)).body).toEqual({ globalVolumes: [] })
    expect((await api(theirs.key).get(PATH)).body).toEqual({ globalVolumes: [volume] })
  })

  it('[AUT-5] reading and writing take their scopes', async () => {
    const account = await createAccount()
    const path = `${PATH}/nosuchvolume`
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, { name: 'a' }],
      ['patch', path, { name: 'x' }],
      ['delete', path],
    ]
    expect(await statusesWith(account, 'volumes:read', calls)).toEqual([200, 404, 403, 403, 403])
    expect(await statusesWith(account, 'volumes:write', calls)).toEqual([403, 403, 201, 404, 404])
  })
})
