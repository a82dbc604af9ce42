import { admin, api, createAccount, describe, expect, it, teamOf } from '../../support/harness.ts'

const list = async (key: string, source?: string) => api(key).get(`/v2/catalog/templates${source === undefined ? '' : `?source=${source}`}`)
const names = async (key: string, source?: string) => (await list(key, source)).body.templates.map(({ name }: { name: string }) => name)

describe('[CAT-6][CAT-18] public templates', () => {
  it('are those of official, of verified and of all other accounts, newest first and without the credentials of others', async () => {
    const [official, verified, other] = [await createAccount(), await createAccount(), await createAccount()]
    await admin().put(`/admin/v1/catalog/publishers/${await teamOf(official)}`, { source: 'official' })
    await admin().put(`/admin/v1/catalog/publishers/${await teamOf(verified)}`, { source: 'verified' })
    const registry = (await api(official.key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
    const create = async ({ key }: { key: string }, name: string, more: object = {}) => {
      const { status } = await api(key).post('/v2/templates', { name, image: 'acme/idle:1', public: true, ...more })
      expect(status).toBe(201)
    }
    await create(official, 'first')
    await create(official, 'second', { registry: { id: registry }, serverless: true })
    await create(official, 'private', { public: false })
    await create(verified, 'checked')
    await create(other, 'anyone')
    expect((await names(other.key)).toSorted()).toEqual(['first', 'second'])
    expect((await names(other.key, 'official')).toSorted()).toEqual(['first', 'second'])
    expect(await names(other.key, 'verified')).toEqual(['checked'])
    const community = await names(other.key, 'community')
    expect(community).toContain('anyone')
    expect(community).not.toContain('first')
    const seen = async (key: string) => (await list(key)).body.templates.find(({ name }: { name: string }) => name === 'second').registry
    expect([await seen(other.key), await seen(official.key)]).toEqual([null, registry])
    await admin().delete(`/admin/v1/catalog/publishers/${await teamOf(official)}`)
    expect(await names(other.key)).toEqual([])
  })

  it('are the newest hundred, however many there are', async () => {
    const account = await createAccount()
    const { key } = account
    await admin().put(`/admin/v1/catalog/publishers/${await teamOf(account)}`, { source: 'verified' })
    await Promise.all(
      Array.from({ length: 102 }, (_, i) => api(key).post('/v2/templates', { name: `many-${i}`, image: 'acme/idle:1', public: true })),
    )
    expect(await names(key, 'verified')).toHaveLength(100)
  })

  it('[PAG-6] are one complete page, whatever the source', async () => {
    const { key } = await createAccount()
    for (const source of [undefined, 'official', 'verified', 'community']) {
      expect((await list(key, source)).body.pagination, source).toEqual({ nextCursor: null, hasNextPage: false })
    }
  })

  it('are 422 for another source, and empty for an unknown account', async () => {
    const { key } = await createAccount()
    expect(await list(key, 'mine')).toMatchObject({
      status: 422,
      body: { errors: ["$.source: value must be one of 'official', 'verified', 'community'"] },
    })
    expect((await admin().put('/admin/v1/catalog/publishers/nobody', { source: 'official' })).status).toBe(404)
  })
})
