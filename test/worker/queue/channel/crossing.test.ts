import { describe, env, evictDurableObject, expect, it, vi } from '../../../support/harness.ts'
import { FakeChannel } from '../../../support/hosts/fake-channel.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { inside, type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

async function scene(): Promise<{ queue: QueueSetup; worker: FakeWorker; channel: FakeChannel }> {
  const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3_600 } })
  const worker = await queue.host.startWorker(queue.endpointId)
  return { queue, worker, channel: await FakeChannel.open(queue.host, queue.endpointId, worker) }
}

describe('frames that cross', () => {
  it('[CHN-6, CHN-26] a hello that crosses the answers of its calls does not begin them again', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await evictDurableObject(endpointStub(env, queue.endpointId))
    const take = channel.take(worker)
    const call = channel.open.get(take)
    expect(await channel.job(take)).toMatchObject({ id: jobId })
    expect(channel.heard[0]).toEqual({ type: 'sync' })
    const listen = channel.listen(worker)
    channel.leave(listen)
    expect(await channel.answer(listen)).toEqual({ type: 'nothing', n: listen })
    const lease = () => inside(queue, ({ core }) => core.state.jobs.heldBy(worker.id))
    const before = await lease()
    const isListening = await inside(queue, ({ core }) => vi.spyOn(core.parking, 'waitForStop'))
    // The second one answers the `sync` of an instance before.
    const hello = { type: 'hello', takes: [call], listens: [{ n: listen, ...FakeChannel.from(worker) }] }
    for (let count = 0; count < 2; count += 1) channel.say(hello)
    // Frames are in order: its answer comes after the hello was applied.
    expect(await channel.answer(channel.post(worker, 'none', {}))).toMatchObject({ type: 'ack' })
    expect(await lease()).toEqual(before)
    expect(await inside(queue, ({ core }) => core.parking.openTakes())).toEqual([])
    expect(isListening).not.toHaveBeenCalled()
    await channel.answer(channel.post(worker, jobId, { output: 1 }))
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 1 })
  })

  it('[CHN-4] keeps a stop order for the next poll when its worker leaves while the object reads it', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    const waits = await inside(queue, ({ core }) => vi.spyOn(core.parking, 'waitForStop'))
    const n = channel.listen(worker)
    await until(() => waits.mock.calls.length === 1)
    // The poll reads the orders again, and its commit is late.
    const commit = { isHeld: true, isOver: false }
    await inside(queue, ({ core }) => {
      const transact = core.transact.bind(core)
      vi.spyOn(core, 'transact').mockImplementationOnce(async (apply) => {
        await until(() => !commit.isHeld)
        return transact(apply).finally(() => {
          commit.isOver = true
        })
      })
      core.parking.wakeStopPoll(worker.id)
    })
    channel.leave(n)
    expect(await channel.answer(n)).toEqual({ type: 'nothing', n })
    await queue.post(`/cancel/${jobId}`)
    commit.isHeld = false
    await until(() => commit.isOver)
    const next = channel.listen(worker)
    expect(await channel.answer(next)).toEqual({ type: 'stop', n: next, jobs: [jobId] })
  })
})
