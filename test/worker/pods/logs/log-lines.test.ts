import { MAX_READS, MAX_SCANNED_LINES } from '../../../../durable-objects/pod-log/line-reader.ts'
import { LOG_RETAINED_LINES } from '../../../../src/domain/text/log-stream.ts'
import { api, createAccount, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { type HostedPod, hostedPod, logOf, readLog } from '../../../support/pods/pods.ts'

const START = Date.UTC(2026, 5, 1)
const timeOf = (n: number) => new Date(START + n * 1_000).toISOString()
const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)

interface Page {
  lines: { n: number; id: string; ts: string; source: string; line: string }[]
  older: string | null
  newer: string
  atEnd: boolean
  truncatedAt: string | null
}

/** A pod with numbered lines, one per second; every tenth is from the platform, every thousandth contains a rare word. */
async function podWithLines(count: number): Promise<HostedPod> {
  const pod = await hostedPod()
  await write(pod, 1, count)
  return pod
}

async function write({ id }: HostedPod, from: number, to: number): Promise<void> {
  for (let first = from; first <= to; first += 500) {
    const lines = range(first, Math.min(first + 499, to)).map((n) => ({
      seq: n,
      at: START + n * 1_000,
      source: n % 10 === 0 ? ('system' as const) : ('container' as const),
      line: n % 1_000 === 0 ? `line ${n} says ÄPFEL <b>` : `line ${n}`,
    }))
    await logOf(id).append({ kind: 'pod', ownerId: id, workloadId: `${id}-1` }, lines)
  }
  await runInDurableObject(logOf(id), ({ archive }) => archive.flush())
}

async function read({ account, id }: HostedPod, query: string): Promise<Page> {
  const { status, body } = await api(account.key).get(`/v2/pods/${id}/logs/lines?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const numbersOf = ({ lines }: Page) => lines.map(({ n }) => n)
const cursor = (text: string | null) => `cursor=${encodeURIComponent(text ?? '')}`

describe('pages of a log', () => {
  it('[LOG-30] lead both ways from the newest lines, including the bucket, without gap or repeat', async () => {
    const count = LOG_RETAINED_LINES + 2_500
    const pod = await podWithLines(count)
    const first = await read(pod, 'limit=1000')
    expect(first).toMatchObject({ newer: `>${count}`, atEnd: true, truncatedAt: null })
    expect(first.lines[0]).toEqual({
      n: count - 999,
      id: `${timeOf(count - 999).slice(0, 19)}Z/${String(count - 999).padStart(12, '0')}`,
      ts: timeOf(count - 999),
      source: 'container',
      line: `line ${count - 999}`,
    })
    const seen = numbersOf(first)
    for (let page = first; page.older !== null; ) {
      page = await read(pod, `limit=1000&${cursor(page.older)}`)
      seen.unshift(...numbersOf(page))
    }
    expect(seen).toEqual(range(1, count))
    const forth: number[] = []
    for (let page = await read(pod, `limit=1000&${cursor('>0')}`); ; page = await read(pod, `limit=1000&${cursor(page.newer)}`)) {
      forth.push(...numbersOf(page))
      if (page.atEnd) break
    }
    expect(forth).toEqual(range(1, count))
    pod.host.leave()
  })

  it('[LOG-30] contain the line of a link, and the stream continues after the id of a line', async () => {
    const pod = await podWithLines(100)
    const page = await read(pod, 'around=50&limit=5')
    expect(numbersOf(page)).toEqual([48, 49, 50, 51, 52])
    expect(page).toMatchObject({ older: '<48', newer: '>52', atEnd: false })
    expect(numbersOf(await read(pod, `limit=2&${cursor(page.older)}`))).toEqual([46, 47])
    expect(numbersOf(await read(pod, `limit=2&${cursor(page.newer)}`))).toEqual([53, 54])
    expect(numbersOf(await read(pod, 'around=1&limit=3'))).toEqual([1, 2])
    expect(await (await readLog(pod, '', page.lines.at(-1)?.id)).lines(1)).toEqual(['line 53'])
    await write(pod, 101, 102)
    expect(numbersOf(await read(pod, cursor('>100')))).toEqual([101, 102])
    pod.host.leave()
  })

  it('[LOG-31] are filtered by text in any case, source and time', async () => {
    const pod = await podWithLines(3_000)
    expect(numbersOf(await read(pod, `q=${encodeURIComponent('äpfel <B>')}`))).toEqual([1_000, 2_000, 3_000])
    expect(numbersOf(await read(pod, 'source=system&limit=2'))).toEqual([2_990, 3_000])
    const times = `since=${timeOf(20)}&until=${timeOf(24)}`
    expect(await read(pod, times)).toMatchObject({ lines: [{ n: 20 }, { n: 21 }, { n: 22 }, { n: 23 }], older: null, atEnd: true })
    expect(numbersOf(await read(pod, `until=${timeOf(4)}&limit=2`))).toEqual([2, 3])
    expect(numbersOf(await read(pod, `${times}&limit=2&${cursor('<23')}`))).toEqual([21, 22])
    expect(numbersOf(await read(pod, `since=${timeOf(9_999)}`))).toEqual([])
    pod.host.leave()
  })

  it('[LOG-32] a search reads a limited number of lines, returns where it stopped, and continues from there', async () => {
    const pod = await podWithLines(MAX_SCANNED_LINES + 3_000)
    const first = await read(pod, 'q=line+7+&source=container')
    expect([first.lines, first.truncatedAt, first.older]).toEqual([[], '<3001', '<3001'])
    const rest = await read(pod, `q=line+1000+&${cursor(first.truncatedAt)}`)
    expect([numbersOf(rest), rest.truncatedAt, rest.older]).toEqual([[1_000], null, null])
    pod.host.leave()
  })

  it('[LOG-32] a search does not block new lines, and the number of simultaneous searches is limited', async () => {
    const pod = await podWithLines(LOG_RETAINED_LINES)
    const searches = range(1, MAX_READS + 1).map(() => api(pod.account.key).get(`/v2/pods/${pod.id}/logs/lines?q=nowhere`))
    await write(pod, LOG_RETAINED_LINES + 1, LOG_RETAINED_LINES + 1)
    const statuses = (await Promise.all(searches)).map(({ status }) => status)
    expect(
      statuses.every((status) => status === 200 || status === 429),
      String(statuses),
    ).toBe(true)
    await runInDurableObject(logOf(pod.id), async ({ reader }) => {
      const requested = {
        filter: { source: null, text: 'nowhere', sinceMs: null, untilMs: null },
        direction: 'older',
        fromN: null,
        limit: 1,
      } as const
      const reads = range(1, MAX_READS).map(() => reader.read(requested))
      expect(reader.isBusy()).toBe(true)
      await Promise.all(reads)
      expect(reader.isBusy()).toBe(false)
    })
    pod.host.leave()
  })

  it('[LOG-30, LOG-6] are for the owner alone; values out of bounds are named', async () => {
    const pod = await podWithLines(3)
    const path = `/v2/pods/${pod.id}/logs/lines`
    expect((await api((await createAccount()).key).get(path)).status).toBe(404)
    for (const query of ['limit=0', 'limit=1001', 'cursor=7', 'around=0', 'q=', 'since=now', 'source=docker']) {
      expect((await api(pod.account.key).get(`${path}?${query}`)).status, query).toBe(422)
    }
    expect(env.LOGS).toBeDefined()
    pod.host.leave()
  })
})
