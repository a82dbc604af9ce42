import { findDataCenter } from '../../../../src/services/resources/data-centers.ts'
import { api, createAccount, createEndpoint, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { insertHostIn, insertPod, multiply, statusesWith, terminatePod } from '../../../support/pods/resources.ts'

const PATH = '/v2/network-volumes'
const BODY = { name: 'data', size: 10, dataCenter: 'EU-RO-1' }

async function create(key: string, changes: object = {}) {
  const reply = await api(key).post(PATH, { ...BODY, ...changes })
  expect(reply.status).toBe(201)
  return reply.body
}

describe('create', () => {
  it('[VOL-1][VOL-2] answers 201 with the volume, of the first type of its data center', async () => {
    const { key } = await createAccount()
    const volume = await create(key)
    expect(volume).toEqual({
      ...{ id: expect.stringMatching(/^[a-z0-9]{14}$/), name: 'data', size: 10, dataCenter: 'EU-RO-1', type: 'STANDARD' },
      ...{ sizeEnforced: false, usedBytes: null, usedAt: null },
    })
    expect(await api(key).get(`${PATH}/${volume.id}`)).toMatchObject({ status: 200, body: volume })
    const fast = await create(key, { dataCenter: 'US-CA-2', type: 'HIGH_PERFORMANCE', size: 4096 })
    expect(fast).toMatchObject({ dataCenter: 'US-CA-2', type: 'HIGH_PERFORMANCE', size: 4096 })
  })

  it('[VOL-1][RES-9] names need not be unique, and have up to 191 characters', async () => {
    const { key } = await createAccount()
    await create(key, { name: 'x'.repeat(191) })
    const [first, second] = [await create(key), await create(key)]
    expect(first.id).not.toBe(second.id)
  })

  const REFUSED: [string, object, number, unknown][] = [
    ['[VOL-2] an unknown data center', { dataCenter: 'XX-YY-1' }, 400, 'dataCenter: data center XX-YY-1 not found'],
    [
      '[VOL-2] a type that the data center lacks',
      { type: 'HIGH_PERFORMANCE' },
      400,
      'type: data center EU-RO-1 has no HIGH_PERFORMANCE volumes, only STANDARD',
    ],
    [
      '[VOL-2][SEED-6] a data center without storage',
      { dataCenter: 'EU-SE-1' },
      400,
      'dataCenter: data center EU-SE-1 has no network volumes',
    ],
    ['[VOL-2] size 9', { size: 9 }, 422, ['$.size: minimum: got 9, want 10']],
    ['[VOL-2] size 4097', { size: 4097 }, 422, ['$.size: maximum: got 4097, want 4096']],
    ['[VOL-2] half a GB', { size: 10.5 }, 422, ['$.size: got number, want integer']],
    ['[RES-9] a name of 192 characters', { name: 'x'.repeat(192) }, 422, ['$.name: maxLength: got 192, want 191']],
    ['[VOL-2] an empty name', { name: '' }, 422, ['$.name: minLength: got 0, want 1']],
    ['[VOL-2] no data center', { dataCenter: undefined }, 422, ["$: missing property 'dataCenter'"]],
    ['[VOL-2] another type', { type: 'FAST' }, 422, ["$.type: value must be one of 'STANDARD', 'HIGH_PERFORMANCE'"]],
    ['[STRICT-1] an unknown member', { bogus: 1 }, 422, ["$: additional properties 'bogus' not allowed"]],
    ['[STRICT-2] null', { type: null }, 422, ["$.type: value must be one of 'STANDARD', 'HIGH_PERFORMANCE'"]],
    [
      '[GEN-6] a line break in the name',
      { name: 'a\nb' },
      422,
      ['$.name: does not match pattern: want text without control characters and marks of direction'],
    ],
    [
      '[GEN-6] a control character in the data center',
      { dataCenter: 'EU\u0007' },
      422,
      ['$.dataCenter: does not match pattern: want text without control characters and marks of direction'],
    ],
  ]
  it.each(REFUSED)('%s is refused', async (_title, changes, status, text) => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, { ...BODY, ...changes })
    expect([reply.status, reply.body.errors ?? reply.body.detail]).toEqual([status, text])
    expect((await api(key).get(PATH)).body).toEqual({ networkVolumes: [] })
  })

  it('[STRICT-1] __proto__ is 422', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, `{"__proto__":{},${JSON.stringify(BODY).slice(1)}`)
    expect(reply).toMatchObject({ status: 422, body: { errors: ["$: additional properties '__proto__' not allowed"] } })
  })

  it('[VOL-2][RES-2] a data center that only a host named is known while one stands there, and has STANDARD storage', async () => {
    const { key } = await createAccount()
    const dataCenter = 'LAB-7'
    expect((await api(key).post(PATH, { ...BODY, dataCenter })).status).toBe(400)
    await insertHostIn(dataCenter, 'REMOVED')
    expect((await api(key).post(PATH, { ...BODY, dataCenter })).status).toBe(400)
    await insertHostIn(dataCenter)
    expect(await create(key, { dataCenter })).toMatchObject({ dataCenter, type: 'STANDARD' })
    expect((await api(key).post(PATH, { ...BODY, dataCenter, type: 'HIGH_PERFORMANCE' })).status).toBe(400)
    expect(await findDataCenter(env, dataCenter)).toMatchObject({ id: dataCenter, globalNetwork: false })
    expect(await findDataCenter(env, 'NOWHERE-1')).toBeNull()
  })

  it('[RES-1] an account has at most 1000', async () => {
    const account = await createAccount()
    await create(account.key)
    await multiply('network_volumes', 'name, size_gb, data_center_id, type, created_at', account, 998)
    await create(account.key)
    expect(await api(account.key).post(PATH, BODY)).toMatchObject({
      status: 400,
      body: { detail: 'an account has at most 1000 network volumes; delete one first', code: 'RULE' },
    })
    expect((await api(account.key).get(PATH)).body.networkVolumes).toHaveLength(1000)
    await create((await createAccount()).key)
  })
})

describe('list', () => {
  it('[PAG-5][GEN-3][AUT-5] is whole, without pagination, of the own account alone', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const volume = await create(mine.key)
    await create(theirs.key)
    expect((await api(mine.key).get(PATH)).body).toEqual({ networkVolumes: [volume] })
  })
})

describe('update', () => {
  it('[VOL-3] renames and grows', async () => {
    const { key } = await createAccount()
    const volume = await create(key)
    expect((await api(key).patch(`${PATH}/${volume.id}`, { size: 11 })).body).toEqual({ ...volume, size: 11 })
    const renamed = { ...volume, name: 'other', size: 11 }
    expect((await api(key).patch(`${PATH}/${volume.id}`, { name: 'other', size: 11 })).body).toEqual(renamed)
    expect((await api(key).get(`${PATH}/${volume.id}`)).body).toEqual(renamed)
  })

  it('[VOL-3] shrinking is 400 and changes nothing', async () => {
    const { key } = await createAccount()
    const volume = await create(key, { size: 20 })
    expect(await api(key).patch(`${PATH}/${volume.id}`, { name: 'x', size: 19 })).toMatchObject({
      status: 400,
      body: { detail: 'size: a network volume cannot shrink; it has 20 GB' },
    })
    expect((await api(key).get(`${PATH}/${volume.id}`)).body).toEqual(volume)
  })

  it('[VOL-3][STRICT-3] nothing, dataCenter, type and sizes out of bounds are 422', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    for (const [body, error] of [
      [{}, '$: minProperties: got 0, want 1'],
      [{ dataCenter: 'EU-RO-1' }, "$: additional properties 'dataCenter' not allowed"],
      [{ name: 'x', type: 'STANDARD' }, "$: additional properties 'type' not allowed"],
      [{ size: 9 }, '$.size: minimum: got 9, want 10'],
      [{ size: 4097 }, '$.size: maximum: got 4097, want 4096'],
      [{ name: 'a\u0000' }, '$.name: does not match pattern: want text without control characters and marks of direction'],
    ] as const) {
      const reply = await api(key).patch(`${PATH}/${id}`, body)
      expect([reply.status, reply.body.errors]).toEqual([422, expect.arrayContaining([error])])
    }
  })

  it('[VOL-3] two simultaneous changes are both kept', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    const replies = await Promise.all([api(key).patch(`${PATH}/${id}`, { name: 'renamed' }), api(key).patch(`${PATH}/${id}`, { size: 30 })])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    expect((await api(key).get(`${PATH}/${id}`)).body).toMatchObject({ name: 'renamed', size: 30 })
  })
})

describe('delete', () => {
  it('[VOL-3] answers 204, then the volume is gone', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    expect(await api(key).delete(`${PATH}/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(`${PATH}/${id}`)).status).toBe(404)
    expect((await api(key).delete(`${PATH}/${id}`)).status).toBe(404)
    expect((await api(key).get(PATH)).body.networkVolumes).toEqual([])
  })

  it('[VOL-3][VOL-4] is 400 while any live pod mounts it, and works when the last one is terminated', async () => {
    const account = await createAccount()
    const { id } = await create(account.key)
    const teamId = await teamOf(account)
    const pods = [
      await insertPod(teamId, { network_volume_id: id, status: 'EXITED' }),
      await insertPod(teamId, { network_volume_id: id, status: 'RUNNING' }),
    ]
    await insertPod(teamId, { network_volume_id: 'another' })
    for (const pod of pods) {
      expect(await api(account.key).delete(`${PATH}/${id}`)).toMatchObject({
        status: 400,
        body: { detail: `network volume ${id} is in use by a pod and cannot be deleted`, code: 'IN_USE' },
      })
      await terminatePod(pod)
    }
    expect((await api(account.key).delete(`${PATH}/${id}`)).status).toBe(204)
  })

  it('[VOL-3] is 400 while an endpoint names it, and works when that is deleted', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    const endpointId = await createEndpoint(key, { image: 'acme/model:1', networkVolumes: [id] })
    expect(await api(key).delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: { detail: `network volume ${id} is in use by an endpoint and cannot be deleted`, code: 'IN_USE' },
    })
    expect((await api(key).delete(`/v2/serverless/${endpointId}`)).status).toBe(204)
    expect((await api(key).delete(`${PATH}/${id}`)).status).toBe(204)
  })
})

describe('access', () => {
  it('[AUT-5] an id that is unknown or of another account is the same 404, and nothing of it changes', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const volume = await create(theirs.key)
    for (const path of [`${PATH}/${volume.id}`, `${PATH}/nosuchvolume`, `${PATH}/%00`]) {
      for (const reply of [
        await api(mine.key).get(path),
        await api(mine.key).patch(path, { name: 'x' }),
        await api(mine.key).delete(path),
      ]) {
        expect(reply).toMatchObject({ status: 404, body: { detail: 'resource not found' } })
      }
    }
    expect((await api(theirs.key).get(PATH)).body).toEqual({ networkVolumes: [volume] })
  })

  it('[AUT-5] reading and writing take their scopes', async () => {
    const account = await createAccount()
    const path = `${PATH}/nosuchvolume`
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, BODY],
      ['patch', path, { name: 'x' }],
      ['delete', path],
    ]
    expect(await statusesWith(account, 'volumes:read', calls)).toEqual([200, 404, 403, 403, 403])
    expect(await statusesWith(account, 'volumes:write', calls)).toEqual([403, 403, 201, 404, 404])
  })
})
