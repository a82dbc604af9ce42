import { Webhook } from 'standardwebhooks'
import { SECRET_OVERLAP_MS } from '../../../../src/domain/webhook/delivery.ts'
import { api, createAccount, createKey, describe, expect, it, runInDurableObject } from '../../../support/harness.ts'
import {
  advanceSender,
  finishJob,
  handOver,
  receivedBy,
  setUpWebhooks,
  waitForDelivery,
  waitForReceived,
} from '../../../support/webhooks/webhooks.ts'

const SECRET_PATH = '/v2/webhooks/signing-secret'
const LOG_PATH = '/v2/webhooks/deliveries'

describe('the signing secret', () => {
  it('[HOOK-8] is made on first use, stays, and differs for every account', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const first = await api(mine.key).get(SECRET_PATH)
    expect(first).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/), previousSecretExpiresAt: null } })
    expect((await api(mine.key).get(SECRET_PATH)).body).toEqual(first.body)
    expect((await api(theirs.key).get(SECRET_PATH)).body.secret).not.toBe(first.body.secret)
  })

  it('[HOOK-8, HOOK-12] after a rotation both sign for 24 hours, then the new one alone', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    const before = (await api(queue.account.key).get(SECRET_PATH)).body.secret
    const rotated = await api(queue.account.key).post(`${SECRET_PATH}/rotate`)
    expect(rotated).toMatchObject({ status: 200, body: { previousSecretExpiresAt: expect.stringMatching(/^\d{4}-.*Z$/) } })
    const { secret } = rotated.body
    expect(secret).not.toBe(before)
    expect((await api(queue.account.key).get(SECRET_PATH)).body).toEqual(rotated.body)

    await handOver(setup, { id: 'msg_overlap', url: `https://${host}/ok` })
    const [during] = await waitForReceived(host, 1)
    expect(during?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    for (const known of [before, secret]) expect(() => new Webhook(known).verify(during?.body ?? '', during?.headers ?? {})).not.toThrow()

    await advanceSender(sender, SECRET_OVERLAP_MS)
    await handOver(setup, { id: 'msg_after', url: `https://${host}/ok` })
    const [, after] = await waitForReceived(host, 2)
    expect(after?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
    const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature } = after?.headers ?? {}
    const signedBy = (known: string) => new Webhook(known).sign(id, new Date(Number(timestamp) * 1000), after?.body ?? '')
    expect(signature).toBe(signedBy(secret))
    expect(signature).not.toBe(signedBy(before))
  })

  it('[HOOK-12] is for keys that may write jobs, because its readers can forge', async () => {
    const { userId } = await createAccount()
    const reader = api((await createKey(userId, { permission: 'READ_ONLY' })).key)
    expect((await reader.get(SECRET_PATH)).status).toBe(403)
    expect((await reader.post(`${SECRET_PATH}/rotate`)).status).toBe(403)
    expect((await api(null).get(SECRET_PATH)).status).toBe(401)
    const bound = api((await createKey(userId, { permission: 'RESTRICTED', scopes: ['jobs:write@aaaaaaaaaaaaaa'] })).key)
    expect((await bound.get(SECRET_PATH)).status).toBe(403)
  })
})

describe('the delivery log', () => {
  it('[HOOK-13] lists every delivery and its attempts', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    const jobId = await finishJob(setup, '/fail/1?token=mine')
    await waitForDelivery(setup, jobId, 'PENDING', 1)
    await advanceSender(sender, 10_000)
    const { id } = await waitForDelivery(setup, jobId, 'DELIVERED', 2)
    const attempt = (status: number) => ({ at: expect.stringMatching(/^\d{4}-.*Z$/), durationMs: expect.any(Number), status })
    expect((await api(queue.account.key).get(LOG_PATH)).body).toEqual({
      deliveries: [
        {
          id,
          endpointId: queue.endpointId,
          jobId,
          url: `https://${host}/fail/1?token=mine`,
          status: 'DELIVERED',
          attempts: [attempt(503), attempt(200)],
          createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
      pagination: { nextCursor: null, hasNextPage: false },
    })
  })

  it('[HOOK-13, PAG-3] is paged newest first and filtered, and a cursor fits its own list only', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    for (let n = 1; n <= 5; n += 1) {
      await runInDurableObject(sender, (object) => {
        object.now = () => 1_800_000_000_000 + Math.floor(n / 2)
      })
      await handOver(setup, { id: `msg_${n}`, jobId: n % 2 === 0 ? 'even' : 'odd', url: `https://${host}/ok` })
    }
    const { get } = api(queue.account.key)
    const idsOf = (body: { deliveries: { id: string }[] }) => body.deliveries.map(({ id }) => id)
    const pages: string[][] = []
    let cursor: string | null = null
    do {
      const { body } = await get(`${LOG_PATH}?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      pages.push(idsOf(body))
      cursor = body.pagination.nextCursor
    } while (cursor)
    expect(pages).toEqual([['msg_5', 'msg_4'], ['msg_3', 'msg_2'], ['msg_1']])
    expect(idsOf((await get(`${LOG_PATH}?jobId=even`)).body)).toEqual(['msg_4', 'msg_2'])
    expect(idsOf((await get(`${LOG_PATH}?endpointId=${queue.endpointId}&jobId=odd`)).body)).toEqual(['msg_5', 'msg_3', 'msg_1'])
    expect(idsOf((await get(`${LOG_PATH}?endpointId=another`)).body)).toEqual([])
    const filtered = (await get(`${LOG_PATH}?jobId=odd&limit=1`)).body.pagination.nextCursor
    expect((await get(`${LOG_PATH}?jobId=odd&limit=1&cursor=${filtered}`)).status).toBe(200)
    for (const query of [`cursor=${filtered}`, `jobId=even&cursor=${filtered}`, 'limit=0', 'limit=1001']) {
      expect((await get(`${LOG_PATH}?${query}`)).status, query).toBe(422)
    }
  })

  it("[HOOK-13, AUT-5] is the account's own, and for keys that may read jobs", async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_mine', url: `https://${setup.host}/ok` })
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).get(LOG_PATH)).body.deliveries).toEqual([])
    const { userId } = setup.queue.account
    const reader = api((await createKey(userId, { permission: 'READ_ONLY' })).key)
    expect((await reader.get(LOG_PATH)).body.deliveries).toHaveLength(1)
    const other = api((await createKey(userId, { permission: 'RESTRICTED', scopes: ['serverless:read'] })).key)
    expect((await other.get(LOG_PATH)).status).toBe(403)
  })
})

describe('redelivery', () => {
  it('[HOOK-13] sends the same id and body again, with three fresh attempts', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    const jobId = await finishJob(setup, '/status/500')
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await waitForDelivery(setup, jobId, attempt < 3 ? 'PENDING' : 'FAILED', attempt)
      await advanceSender(sender, 10_000)
    }
    const { id } = await waitForDelivery(setup, jobId, 'FAILED', 3)
    const again = await api(queue.account.key).post(`${LOG_PATH}/${id}/redeliver`)
    expect(again).toMatchObject({ status: 200, body: { id, jobId, status: 'PENDING' } })
    await waitForDelivery(setup, jobId, 'PENDING', 4)
    expect(await api(queue.account.key).post(`${LOG_PATH}/${id}/redeliver`)).toMatchObject({ status: 409 })
    for (let attempt = 4; attempt <= 6; attempt += 1) {
      await waitForDelivery(setup, jobId, attempt < 6 ? 'PENDING' : 'FAILED', attempt)
      await advanceSender(sender, 10_000)
    }
    const requests = await receivedBy(host)
    expect(requests).toHaveLength(6)
    expect(new Set(requests.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  })

  it('[HOOK-13, AUT-5] of an unknown or a foreign delivery is 404, and takes the right to write jobs', async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_foreign', url: `https://${setup.host}/ok` })
    await waitForDelivery(setup, 'job', 'DELIVERED', 1)
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).post(`${LOG_PATH}/msg_foreign/redeliver`)).status).toBe(404)
    expect((await api(setup.queue.account.key).post(`${LOG_PATH}/msg_unknown/redeliver`)).status).toBe(404)
    const reader = api((await createKey(setup.queue.account.userId, { permission: 'READ_ONLY' })).key)
    expect((await reader.post(`${LOG_PATH}/msg_foreign/redeliver`)).status).toBe(403)
    expect(await receivedBy(setup.host)).toHaveLength(1)
  })
})
