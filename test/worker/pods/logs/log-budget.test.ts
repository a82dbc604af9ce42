import { onTestFinished } from 'vitest'
import { LOG_RETAINED_LINES, SEGMENT_LINES } from '../../../../src/domain/text/log-stream.ts'
import { admin, api, beforeEach, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { GPU, gpus } from '../../../support/hosts/gpus.ts'
import { type HostedPod, hostedPod, logOf, placed } from '../../../support/pods/pods.ts'

const { LOGS } = env
if (!LOGS) throw new Error('the tests are to have a bucket')
const bucket: R2Bucket = LOGS
/** One segment more than the tail retains. */
const FULL = LOG_RETAINED_LINES + SEGMENT_LINES

let pod: HostedPod
beforeEach(async () => {
  pod = await hostedPod()
  const { host } = pod
  onTestFinished(() => host.leave())
})

/** Another pod of the account, on a host of its own. */
async function another(): Promise<string> {
  const host = await FakeHost.join(gpus(1, GPU))
  onTestFinished(() => host.leave())
  return placed(host, {}, pod.account)
}

/** Writes lines of one log; segments that are due are in the bucket afterwards. */
async function write(podId: string, from: number, to: number): Promise<void> {
  const log = logOf(podId)
  for (let first = from; first <= to; first += 500) {
    const seqs = Array.from({ length: Math.min(500, to - first + 1) }, (_, index) => first + index)
    const lines = seqs.map((seq) => ({ seq, at: seq * 1_000, source: 'container' as const, line: String(seq) }))
    await log.append({ kind: 'pod', ownerId: podId, workloadId: `${podId}-1` }, lines)
  }
  await runInDurableObject(log, ({ archive }) => archive.flush())
}

const segmentsOf = async (podId: string) => (await bucket.list({ prefix: `logs/pod/${podId}/` })).objects
const bytesOf = async (podId: string) => (await segmentsOf(podId)).reduce((sum, { size }) => sum + size, 0)
const firstLineOf = async (podId: string) => Number((await segmentsOf(podId))[0]?.key.split('/').at(-1)?.split('-')[0])
const limit = async (name: string) => (await api(pod.account.key).get('/v2/account/limits')).body[name]
const setBound = (logBytes: number) => admin().put(`/admin/v1/users/${pod.account.userId}/budgets`, { logBytes })

describe('[M8][LOG-35] older lines of an account', () => {
  it('are counted together, and the account reads use and limit', async () => {
    const second = await another()
    expect(await limit('logBytes')).toEqual({ used: 0, bound: 10 * 2 ** 30, unit: 'bytes', shared: true })
    await write(pod.id, 1, FULL + SEGMENT_LINES)
    await write(second, 1, FULL)
    expect([(await segmentsOf(pod.id)).length, (await segmentsOf(second)).length]).toEqual([2, 1])
    const used = (await bytesOf(pod.id)) + (await bytesOf(second))
    expect(await limit('logBytes')).toEqual({ used, bound: 10 * 2 ** 30, unit: 'bytes', shared: true })
  })

  it('beyond the limit are deleted first from the log with the oldest write, then from the log itself, and other accounts keep theirs', async () => {
    const otherTenant = await hostedPod()
    onTestFinished(() => otherTenant.host.leave())
    await write(otherTenant.id, 1, FULL)
    const second = await another()
    await write(second, 1, FULL)
    await write(pod.id, 1, FULL)
    const each = await bytesOf(pod.id)
    await setBound(Math.floor(2.5 * each))
    await write(pod.id, FULL + 1, FULL + SEGMENT_LINES)
    expect([(await segmentsOf(pod.id)).length, (await segmentsOf(second)).length]).toEqual([2, 0])
    await write(pod.id, FULL + SEGMENT_LINES + 1, FULL + 2 * SEGMENT_LINES)
    expect((await segmentsOf(pod.id)).length).toBe(2)
    expect(await firstLineOf(pod.id)).toBe(SEGMENT_LINES + 1)
    expect(await limit('logBytes')).toMatchObject({ used: await bytesOf(pod.id), bound: Math.floor(2.5 * each) })
    expect((await segmentsOf(otherTenant.id)).length).toBe(1)
    // Lines in the tail do not count.
    expect(await runInDurableObject(logOf(second), ({ store }) => store.newest().n - (store.oldest(1)[0]?.n ?? 0))).toBe(
      LOG_RETAINED_LINES - 1,
    )
  })

  it('are not stored under a limit of zero, and the log continues', async () => {
    await setBound(0)
    await write(pod.id, 1, FULL + 10)
    expect(await segmentsOf(pod.id)).toEqual([])
    expect(await runInDurableObject(logOf(pod.id), ({ store }) => store.newest().n)).toBe(FULL + 10)
  })

  it('free their room with their log', async () => {
    await write(pod.id, 1, FULL)
    expect((await limit('logBytes')).used).toBeGreaterThan(0)
    await runInDurableObject(logOf(pod.id), ({ archive }) => archive.removeAll())
    expect(await limit('logBytes')).toMatchObject({ used: 0 })
  })

  it('of a log that is being written are not deleted, so that two logs never wait for each other', async () => {
    await write(pod.id, 1, FULL)
    const answers = await runInDurableObject(logOf(pod.id), async ({ archive }) => {
      const writing = archive.flush()
      const busy = await archive.shed()
      await writing
      return [busy, await archive.shed()]
    })
    expect(answers).toEqual([false, true])
    expect(await segmentsOf(pod.id)).toEqual([])
  })
})
