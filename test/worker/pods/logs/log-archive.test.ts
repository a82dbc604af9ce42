import { LOG_RETENTION_MS } from '../../../../durable-objects/pod-log.ts'
import { BACKLOG_FACTOR, LOG_RETAINED_LINES, SEGMENT_LINES, type StoredLine } from '../../../../src/domain/text/log-stream.ts'
import {
  afterEach,
  beforeEach,
  describe,
  env,
  evictDurableObject,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
} from '../../../support/harness.ts'
import { act, type HostedPod, hostedPod, logOf, readLog } from '../../../support/pods/pods.ts'

const { LOGS } = env
if (!LOGS) throw new Error('the tests are to have a bucket')
const bucket: R2Bucket = LOGS
const START = Date.UTC(2026, 5, 1)

let pod: HostedPod
let id: string
beforeEach(async () => {
  pod = await hostedPod()
  id = pod.id
})
afterEach(() => pod.host.leave())

const log = () => logOf(id)
const read = (query?: string, lastEventId?: string) => readLog(pod, query, lastEventId)
const idOf = (n: number) => `${new Date(START + n * 1_000).toISOString().slice(0, 19)}Z/${String(n).padStart(12, '0')}`
const segmentName = (first: number, last: number) =>
  `logs/pod/${id}/${String(first).padStart(12, '0')}-${String(last).padStart(12, '0')}.ndjson`
const inBucket = async () => (await bucket.list({ prefix: `logs/pod/${id}/` })).objects.map((object) => object.key)
const inTail = () => runInDurableObject(log(), ({ store }) => [store.oldest(1)[0]?.n ?? 0, store.newest().n])

/** Writes numbered lines, one per second; every tenth is from the platform. Segments that are due are in the bucket afterwards. */
async function write(from: number, to: number): Promise<void> {
  for (let first = from; first <= to; first += 500) {
    const count = Math.min(500, to - first + 1)
    const lines = Array.from({ length: count }, (_, index) => {
      const n = first + index
      return { seq: n, at: START + n * 1_000, source: n % 10 === 0 ? ('system' as const) : ('container' as const), line: String(n) }
    })
    await log().append({ kind: 'pod', ownerId: id, workloadId: `${id}-1` }, lines)
  }
  await runInDurableObject(log(), ({ archive }) => archive.flush())
}

/** A bucket that rejects calls of these methods. */
function refusing(...methods: (keyof R2Bucket)[]): R2Bucket {
  const refuse = () => Promise.reject(new Error('the bucket is away'))
  return new Proxy(bucket, {
    get: (target, name) => (methods.some((method) => method === name) ? refuse : Reflect.get(target, name).bind(target)),
  })
}

const useBucket = (use: R2Bucket | null) =>
  runInDurableObject(log(), ({ archive }) => {
    archive.bucket = use
  })

/** One segment more than the tail retains. */
const FULL = LOG_RETAINED_LINES + SEGMENT_LINES

describe('writing', () => {
  it('[LOG-20] lines are written to the bucket a segment at a time, before the tail drops them', async () => {
    await write(1, FULL - 1)
    expect(await inBucket()).toEqual([])
    expect(await inTail()).toEqual([1, FULL - 1])
    await write(FULL, FULL)
    expect(await inBucket()).toEqual([segmentName(1, SEGMENT_LINES)])
    expect(await inTail()).toEqual([SEGMENT_LINES + 1, FULL])
    const text = await (await bucket.get(segmentName(1, SEGMENT_LINES)))?.text()
    const lines = text
      ?.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredLine)
    expect(lines).toHaveLength(SEGMENT_LINES)
    expect(lines?.[9]).toEqual({ n: 10, atMs: START + 10_000, source: 'system', line: '10' })
    await write(FULL + 1, FULL + 2 * SEGMENT_LINES)
    expect(await inBucket()).toEqual([1, 1_001, 2_001].map((first) => segmentName(first, first + SEGMENT_LINES - 1)))
  })

  it('[LOG-20] a segment that was written but not recorded is written again unchanged; an unreachable bucket loses nothing', async () => {
    await useBucket(refusing('put'))
    await write(1, FULL + SEGMENT_LINES)
    expect(await inTail()).toEqual([1, FULL + SEGMENT_LINES])
    // As if the object had ended between the write to the bucket and its own row.
    await bucket.put(segmentName(1, SEGMENT_LINES), 'half')
    await evictDurableObject(log())
    await write(FULL + SEGMENT_LINES + 1, FULL + SEGMENT_LINES + 1)
    expect(await inBucket()).toEqual([segmentName(1, SEGMENT_LINES), segmentName(SEGMENT_LINES + 1, 2 * SEGMENT_LINES)])
    expect(await (await read('', idOf(995))).lines(10)).toEqual([
      '996',
      '997',
      '998',
      '999',
      '1000',
      '1001',
      '1002',
      '1003',
      '1004',
      '1005',
    ])
  })

  it('[LOG-20] lines that a bucket refuses for long are dropped in the end, because a log is limited', async () => {
    await useBucket(refusing('put'))
    await write(1, BACKLOG_FACTOR * LOG_RETAINED_LINES + 10)
    expect(await inTail()).toEqual([11, BACKLOG_FACTOR * LOG_RETAINED_LINES + 10])
  })

  it('[LOG-10] without a bucket the tail drops lines beyond its limits, and readers get a gap', async () => {
    await useBucket(null)
    await write(1, FULL)
    expect(await inTail()).toEqual([SEGMENT_LINES + 1, FULL])
    expect(await inBucket()).toEqual([])
    expect(await (await read('', idOf(5))).lines(1)).toEqual([String(SEGMENT_LINES + 1)])
    expect(await (await read('?since=2026-06-01T00:00:05Z')).lines(1)).toEqual([String(SEGMENT_LINES + 1)])
  })
})

describe('reading', () => {
  it('[LOG-20, LOG-2, LOG-3] a reader who begins before the tail gets every line once: segments, then the tail, then new lines', async () => {
    await write(1, FULL + 2 * SEGMENT_LINES)
    const reader = await read('', idOf(990))
    const events = await reader.events(FULL + 2 * SEGMENT_LINES - 990)
    expect(events.map(({ line }) => Number(line))).toEqual(Array.from({ length: events.length }, (_, index) => 991 + index))
    expect(events[0]?.id).toBe(idOf(991))
    await write(FULL + 2 * SEGMENT_LINES + 1, FULL + 2 * SEGMENT_LINES + 1)
    expect(await reader.lines(1)).toEqual([String(FULL + 2 * SEGMENT_LINES + 1)])
    await reader.close()
  })

  it('[LOG-20, LOG-14] since and a bare time find their line in a segment, also of one source; tail stays within the tail', async () => {
    await write(1, FULL + SEGMENT_LINES)
    // 00:25:15 is the time of line 1515.
    expect(await (await read('?since=2026-06-01T00:25:15Z')).lines(2)).toEqual(['1515', '1516'])
    expect(await (await read('?since=2026-06-01T00:25:15Z&source=system')).lines(2)).toEqual(['1520', '1530'])
    expect(await (await read('', '2026-06-01T00:25:15Z')).lines(1)).toEqual(['1516'])
    expect(await (await read('?since=2020-01-01T00:00:00Z')).lines(1)).toEqual(['1'])
    expect(await (await read('?tail=1')).lines(1)).toEqual([String(FULL + SEGMENT_LINES)])
    expect(await (await read('?tail=5000&source=system')).lines(1)).toEqual(['2010'])
  })

  it('[LOG-20] a segment that its operator has deleted is a gap; an unreadable bucket ends the stream, which can be resumed', async () => {
    await write(1, FULL + 2 * SEGMENT_LINES)
    await bucket.delete(segmentName(1_001, 2_000))
    const reader = await read('', idOf(998))
    expect(await reader.lines(4)).toEqual(['999', '1000', '2001', '2002'])
    await reader.close()
    await evictDurableObject(log())
    await useBucket(refusing('get'))
    const cut = await read('', idOf(998))
    expect(await cut.frame()).toBe('event: timeout\ndata: {}')
    expect(await (await read('?since=2026-06-01T00:00:05Z')).frame()).toBe('event: timeout\ndata: {}')
    await useBucket(bucket)
    expect(await (await read('', idOf(998))).lines(1)).toEqual(['999'])
  })
})

describe('the end of a log', () => {
  const passRetention = async () => {
    await runInDurableObject(log(), (object) => {
      object.now = () => Date.now() + 2 * LOG_RETENTION_MS
    })
    await runDurableObjectAlarm(log())
  }

  it('[LOG-11, LOG-20] its segments are deleted with it, also unrecorded ones; not before the bucket is reachable', async () => {
    await write(1, FULL)
    await bucket.put(segmentName(7_001, 8_000), 'an orphan')
    const otherTenant = `logs/pod/${id}x/000000000001-000000001000.ndjson`
    await bucket.put(otherTenant, "somebody else's")
    await act(id, 'terminate')
    await useBucket(refusing('delete'))
    await passRetention()
    expect(await inBucket()).toHaveLength(2)
    expect(await inTail()).toEqual([SEGMENT_LINES + 1, FULL + 1])
    await useBucket(bucket)
    await passRetention()
    expect(await inBucket()).toEqual([])
    expect(await inTail()).toEqual([0, 0])
    expect(await bucket.head(otherTenant)).not.toBeNull()
  })
})
