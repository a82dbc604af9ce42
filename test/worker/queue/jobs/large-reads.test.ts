import { enterInFlight, enterRead, inFlightUse, readUse, tryEnterRead } from '../../../../src/effects/in-flight.ts'
import { admin, api, createAccount, createOrganization, describe, env, expect, it, send, teamOf } from '../../../support/harness.ts'
import { type QueueSetup, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

const MIB = 2 ** 20

/** A job with a result of `chars` characters, some of them not ASCII. */
async function largeResult(queue: QueueSetup, chars: number): Promise<{ jobId: string; output: string }> {
  const { jobId, worker } = await runAndTake(queue)
  const output = 'é😀x'.repeat(Math.ceil(chars / 4)).slice(0, chars)
  await worker.done(jobId, { output })
  return { jobId, output }
}

const setBound = (queue: QueueSetup, readBytes: number) =>
  admin().put(`/admin/v1/users/${queue.account.userId}/budgets`, { readBytes, inFlightBytes: 64 * MIB })
const used = async (queue: QueueSetup) => (await readUse(env, await teamOf(queue.account), Date.now())).used

describe('[M8][RATE-32] large results', () => {
  it('are complete, are counted while they are read, and refused beyond the limit of the account alone', async () => {
    const [queue, other] = [await setUpQueue(), await setUpQueue()]
    const { jobId, output } = await largeResult(queue, MIB)
    const foreign = await largeResult(other, MIB)
    await setBound(queue, 3 * MIB)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output })
    const bytes = await used(queue)
    expect(bytes).toBeGreaterThan(MIB)
    expect((await api(queue.account.key).get('/v2/account/limits')).body.readBytes).toEqual({
      used: bytes,
      bound: 3 * MIB,
      unit: 'bytes',
      shared: true,
    })
    enterRead(await teamOf(queue.account), 3 * MIB - bytes, Date.now())
    for (const path of [`/status/${jobId}`, `/status-sync/${jobId}`]) {
      const refused = await queue.get(path)
      expect(refused).toMatchObject({
        status: 429,
        body: { detail: expect.stringMatching(/^the account's budget readBytes .* is 3145728/) },
      })
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    expect((await other.get(`/status/${foreign.jobId}`)).body.output).toBe(foreign.output)
  })

  it('are read in spite of the limit if they are small', async () => {
    const queue = await setUpQueue()
    const { jobId, output } = await largeResult(queue, 60_000)
    enterRead(await teamOf(queue.account), 1024 * MIB, Date.now())
    expect((await queue.get(`/status/${jobId}`)).body.output).toBe(output)
    expect(await used(queue)).toBe(1024 * MIB)
  })

  it('of a call that waits for its own job are never refused', async () => {
    const queue = await setUpQueue()
    await setBound(queue, MIB)
    enterRead(await teamOf(queue.account), MIB, Date.now())
    const answer = queue.post('/runsync', { input: {} })
    const worker = await queue.host.startWorker(queue.endpointId)
    const job = await worker.take()
    await worker.done(job?.id ?? '', { output: 'x'.repeat(MIB) })
    expect((await answer).body).toMatchObject({ status: 'COMPLETED', output: 'x'.repeat(MIB) })
    expect(await used(queue)).toBeGreaterThan(2 * MIB)
  })

  it('end a stream of events once there is room', async () => {
    const queue = await setUpQueue()
    const { jobId, output } = await largeResult(queue, 200_000)
    const teamId = await teamOf(queue.account)
    await setBound(queue, MIB)
    const ended = enterRead(teamId, MIB, Date.now() - 10_000)
    const reply = await send(`/v2/${queue.endpointId}/stream/${jobId}`, {
      headers: { authorization: `Bearer ${queue.account.key}`, accept: 'text/event-stream' },
    })
    const text = reply.text()
    ended()
    expect(await text).toContain(output)
  })

  it('count for ten seconds, as long as they are sent, and ten minutes where no end is reported', () => {
    const teamId = crypto.randomUUID()
    const nowMs = Date.now()
    const read = tryEnterRead(teamId, MIB, MIB, nowMs)
    const isFull = (atMs: number) => 'used' in tryEnterRead(teamId, 1, MIB, atMs)
    expect(isFull(nowMs + 599_999)).toBe(true)
    expect('ended' in read && read.ended()).toBe(undefined)
    expect(isFull(nowMs + 9_999)).toBe(true)
    expect(isFull(nowMs + 10_000)).toBe(false)
  })

  it('[PLAN-5] and bodies in progress are counted with those of the organizations that the same user has made', async () => {
    const maker = await createAccount()
    const teamId = await teamOf(maker)
    const organization = await createOrganization(maker.key)
    const nowMs = Date.now()
    const uses = async () => [
      (await readUse(env, teamId, nowMs)).used,
      (await readUse(env, organization, nowMs)).used,
      (await inFlightUse(env, teamId, nowMs)).used,
      (await inFlightUse(env, organization, nowMs)).used,
    ]
    expect(await uses()).toEqual([0, 0, 0, 0])
    enterRead(organization, 5, nowMs)
    enterInFlight(organization, 7, nowMs)
    expect(await uses()).toEqual([5, 5, 7, 7])
  })

  it('are counted separately for each account', async () => {
    const [a, b] = [await teamOf(await createAccount()), await teamOf(await createAccount())]
    enterRead(a, 5, Date.now())
    expect([(await readUse(env, a, Date.now())).used, (await readUse(env, b, Date.now())).used]).toEqual([5, 0])
  })
})
