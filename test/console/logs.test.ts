import { describe, expect, it, vi } from 'vitest'
import { type ApiClient, ConnectionError } from '../../src/client/client.ts'
import { plainText, spansOf } from '../../src/console/parts/logs/ansi.ts'
import { LineBuffer } from '../../src/console/parts/logs/reading/buffer.ts'
import { LogFollower, type LogSource } from '../../src/console/parts/logs/reading/follower.ts'
import { readLine, runsOf, type ShownLine, shownLine } from '../../src/console/parts/logs/reading/lines.ts'
import { endpointLog, type FollowFrom, type LogPage } from '../../src/console/parts/logs/reading/origins.ts'
import { linesText } from '../../src/console/parts/logs/save-lines.ts'
import { hitBeside, hitsIn, markHits, nextHit } from '../../src/console/parts/logs/search.ts'
import { SOON } from '../support/time.ts'

const ESC = '\u001b'

describe('[UI-40] lines of a log are data', () => {
  it('colours become stretches', () => {
    expect(spansOf(`${ESC}[1;31mError${ESC}[0m: ${ESC}[38;5;208mdisk${ESC}[0m ${ESC}[38;2;1;2;3mfull${ESC}[0m`)).toEqual([
      { text: 'Error', color: 'red', isBold: true },
      { text: ': ' },
      { text: 'disk', color: 'rgb(255, 135, 0)' },
      { text: ' ' },
      { text: 'full', color: 'rgb(1, 2, 3)' },
    ])
    expect(spansOf(`${ESC}[92;44mok${ESC}[0m${ESC}[38;5;244mgrey`)).toEqual([
      { text: 'ok', color: 'green', background: 'blue' },
      { text: 'grey', color: 'rgb(128, 128, 128)' },
    ])
  })

  it('markup stays text', () => {
    expect(spansOf('<img src=x onerror=alert(1)> & <b>')).toEqual([{ text: '<img src=x onerror=alert(1)> & <b>' }])
    expect(spansOf(`${ESC}[31m<script>`)).toEqual([{ text: '<script>', color: 'red' }])
  })

  it('only http and https become links', () => {
    expect(spansOf('see (https://example.com/a?b=1). or javascript:alert(1) data:text/html,x ftp://h http://[')).toEqual([
      { text: 'see (' },
      { text: 'https://example.com/a?b=1', href: 'https://example.com/a?b=1' },
      { text: '). or javascript:alert(1) data:text/html,x ftp://h http://[' },
    ])
  })

  it('sequences that move the cursor or name a window are not shown, and overwritten text is gone', () => {
    const line = `${ESC}]0;title\u0007${ESC}[2K${ESC}[1Adone\u0000\u0008 ${ESC}[32mwell${ESC}[0m`
    expect(plainText(line)).toBe('done well')
    expect(plainText('10%\r50%\r100%\r')).toBe('100%')
    expect(plainText(`half ${ESC}[3`)).toBe('half [3')
    expect(spansOf(`half ${ESC}`)).toEqual([{ text: 'half ' }])
    expect(plainText('tab\tstays, ünïcode 🎈 too')).toBe('tab\tstays, ünïcode 🎈 too')
  })
})

/** Line `n` of a log, with a text. */
const line = (n: number, plain = `line ${n}`): ShownLine => ({
  id: `2026-06-01T12:00:00Z/${String(n).padStart(12, '0')}`,
  ts: '2026-06-01T12:00:00Z',
  source: 'container',
  line: plain,
  plain,
  place: { atMs: 0, workerId: '', n },
})
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => line(from + index))
const numbers = (of: readonly ShownLine[]) => of.map(({ place }) => place.n)

describe('[UI-41] searching a log', () => {
  it('ignores case, and wraps around', () => {
    const texts = ['Loading', 'ready', 'loading again', 'done'].map((text, n) => line(n, text))
    expect(hitsIn(texts, 'LOAD')).toEqual([0, 2])
    expect(hitsIn(texts, 'load', 1)).toEqual([2])
    expect(hitsIn(texts, '')).toEqual([])
    expect([hitBeside([0, 2], 0, false), hitBeside([0, 2], 2, false), hitBeside([0, 2], 0, true)]).toEqual([2, undefined, undefined])
    expect([nextHit([0, 2], 0, false), nextHit([0, 2], 2, false), nextHit([0, 2], 0, true), nextHit([], 0, true)]).toEqual([
      2,
      0,
      2,
      undefined,
    ])
  })

  it('marks hits that span stretches of different styles', () => {
    expect(markHits([{ text: 'a fo', color: 'red' }, { text: 'o foo' }], 'FOO')).toEqual([
      { text: 'a ', color: 'red' },
      { text: 'fo', color: 'red', isHit: true },
      { text: 'o', isHit: true },
      { text: ' ' },
      { text: 'foo', isHit: true },
    ])
    expect(markHits([{ text: 'aaa' }], 'aa')).toEqual([{ text: 'aa', isHit: true }, { text: 'a' }])
    expect(markHits([{ text: 'abc' }], 'x')).toEqual([{ text: 'abc' }])
  })
})

describe('[UI-42] a view keeps a bounded number of lines', () => {
  it('the oldest go first, many at a time', () => {
    const buffer = new LineBuffer(10)
    buffer.add(lines(0, 10))
    expect([buffer.lines.length, buffer.dropped]).toEqual([11, 0])
    buffer.add([line(11)])
    expect([numbers(buffer.lines), buffer.dropped]).toEqual([[2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 2])
    buffer.prepend([line(1)])
    expect(buffer.lines).toHaveLength(10)
  })

  it('takes 100,000 lines at once, and drops older ones', () => {
    const buffer = new LineBuffer()
    buffer.add(lines(0, 249_999))
    expect([buffer.lines.length, buffer.lines[0]?.place.n, buffer.dropped]).toEqual([100_000, 150_000, 150_000])
  })

  it('lines that arrive late are put in their place, each once', () => {
    const buffer = new LineBuffer()
    buffer.add([line(1), line(2), line(6)])
    buffer.add([line(2), line(3), line(4)])
    buffer.add([line(5), line(6), line(7)])
    expect(numbers(buffer.lines)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(runsOf([line(4), line(5), line(2), line(3)]).map(numbers)).toEqual([
      [4, 5],
      [2, 3],
    ])
  })

  it('reads lines, and leaves other events alone', () => {
    const data = '{"ts":"2026-06-01T12:00:00Z","source":"system","line":"a\\u001b[1mb"}'
    expect(readLine({ id: '2026-06-01T12:00:00Z/000000000007', event: 'message', data })).toEqual({
      id: '2026-06-01T12:00:00Z/000000000007',
      ts: '2026-06-01T12:00:00Z',
      source: 'system',
      line: 'a\u001b[1mb',
      plain: 'ab',
      place: { atMs: 0, workerId: '', n: 7 },
    })
    expect(readLine({ id: 'i', event: 'timeout', data: '' })).toBeNull()
  })

  it('a line of a joined log is identified by its place, as in cursors', () => {
    const answered = { n: 3, id: '2026-06-01T12:00:00Z/000000000003', ts: '2026-06-01T12:00:00.250Z', source: 'container', line: 'a' }
    const { id, place } = shownLine({ ...answered, workerId: 'w1' })
    expect([id, place]).toEqual(['1780315200250.w1.3', { atMs: 1_780_315_200_250, workerId: 'w1', n: 3 }])
    expect(linesText([shownLine({ ...answered, workerId: 'w1' }), shownLine(answered)])).toBe(
      '2026-06-01T12:00:00.250Z w1 container a\n2026-06-01T12:00:00.250Z container a\n',
    )
  })
})

/** A log of numbered lines on a plane. `missing`: lines that each stream leaves out; `kept`: the first line that the plane still has. */
class FakeLog {
  readonly opened: (string | null)[] = []
  readonly asked: string[] = []
  isRefused = false
  /** When its streams open. */
  opens: Promise<void> = Promise.resolve()
  private readonly wakes = new Set<() => void>()
  private last: number
  private readonly kept: number
  private readonly missing: (n: number) => boolean

  constructor(last: number, { kept = 1, missing = (_: number): boolean => false } = {}) {
    this.last = last
    this.kept = kept
    this.missing = missing
  }

  write(count: number): void {
    this.last += count
    for (const wake of this.wakes) wake()
  }

  source(changes: Partial<LogSource> = {}): LogSource {
    const page = async ({ cursor = '', limit, q = '' }: { cursor?: string; limit: number; q?: string }) => this.page(cursor, limit, q)
    return {
      isNumbered: true,
      isOver: false,
      isMiddle: false,
      first: async () => this.page('', 3, ''),
      page,
      all: (cursor) => page({ cursor, limit: 3 }),
      follow: (from, signal, onLink) => this.follow(from, signal, onLink),
      isMeant: () => true,
      ...changes,
    }
  }

  page(cursor: string, limit: number, q: string): LogPage {
    this.asked.push(cursor)
    if (this.isRefused) throw new Error('pod not found')
    const n = Number(cursor.slice(1))
    const isNewer = cursor.startsWith('>')
    const all = lines(this.kept, this.last).filter(({ place, plain }) => {
      if (!plain.includes(q)) return false
      return cursor === '' || (isNewer ? place.n > n : place.n < n)
    })
    const found = isNewer ? all.slice(0, limit) : all.slice(Math.max(0, all.length - limit))
    const [first, last] = [found[0]?.place.n ?? this.kept, found.at(-1)?.place.n ?? this.last]
    const newer = isNewer ? last : cursor === '' ? this.last : n - 1
    return {
      lines: found,
      older: first > this.kept ? `<${first}` : null,
      newer: `>${newer}`,
      atEnd: newer === this.last,
      truncatedAt: null,
    }
  }

  private async *follow(
    { lastId, newer }: FollowFrom,
    signal: AbortSignal,
    onLink: (isOpen: boolean) => void,
  ): AsyncGenerator<ShownLine[]> {
    this.opened.push(lastId)
    await this.opens
    onLink(true)
    for (let n = Number(newer.slice(1)) + 1; ; n += 1) {
      while (n > this.last) {
        signal.throwIfAborted()
        await new Promise<void>((resolve) => {
          this.wakes.add(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
      if (n >= this.kept && !this.missing(n)) yield [line(n)]
    }
  }
}

const shows = (follower: LogFollower, wanted: number[]) =>
  vi.waitFor(() => expect(numbers(follower.snapshot().lines)).toEqual(wanted), SOON)
const NEVER = new AbortController().signal

describe('[UI-43] following a log', () => {
  it('begins with a page, and continues after the last line when it is resumed', async () => {
    const log = new FakeLog(4)
    const follower = new LogFollower(log.source())
    follower.start()
    await shows(follower, [2, 3, 4])
    log.write(1)
    await shows(follower, [2, 3, 4, 5])
    follower.stop()
    expect(follower.snapshot().status).toBe('paused')
    log.write(1)
    follower.start()
    await shows(follower, [2, 3, 4, 5, 6])
    follower.stop()
    expect(log.opened).toEqual([line(4).id, line(5).id])
  })

  it('a tab follows one log at a time', async () => {
    const first = new LogFollower(new FakeLog(1).source())
    first.start()
    await shows(first, [1])
    const second = new LogFollower(new FakeLog(2).source())
    second.start()
    await shows(second, [1, 2])
    expect([first.snapshot().status, second.snapshot().status]).toEqual(['other', 'following'])
    second.stop()
  })

  it('says why it cannot be followed, and retries on request', async () => {
    const log = new FakeLog(1)
    log.isRefused = true
    const follower = new LogFollower(log.source())
    follower.start()
    await vi.waitFor(() => expect(follower.snapshot()).toMatchObject({ status: 'failed', error: new Error('pod not found') }), SOON)
    log.isRefused = false
    follower.start()
    await shows(follower, [1])
    follower.stop()
  })

  it('[UI-56] says that its stream is interrupted until it is open again', async () => {
    const log = new FakeLog(1)
    let link: (isOpen: boolean) => void = () => {}
    const source = log.source()
    const follower = new LogFollower({
      ...source,
      follow: (from, signal, onLink) => {
        link = onLink
        return source.follow(from, signal, onLink)
      },
    })
    follower.start()
    await shows(follower, [1])
    const said = [true, false, true].map((isOpen) => {
      link(isOpen)
      return follower.snapshot().status
    })
    expect(said).toEqual(['following', 'broken', 'following'])
    follower.stop()
    link(false)
    expect(follower.snapshot().status).toBe('paused')
  })

  it('[UI-56] is not followed before its stream is open, after its end, or while its plane does not answer', async () => {
    const log = new FakeLog(1)
    const opening = Promise.withResolvers<void>()
    log.opens = opening.promise
    const source = log.source()
    const ends = [async () => undefined, async () => Promise.reject(new ConnectionError('GET /v2/x', 'reset'))]
    const follower = new LogFollower({
      ...source,
      follow: async function* (from, signal, onLink) {
        const end = ends.shift()
        if (end === undefined) return yield* source.follow(from, signal, onLink)
        onLink(true)
        yield [line(4 - ends.length)]
        await end()
      },
    })
    follower.start()
    await shows(follower, [1, 3])
    await vi.waitFor(() => expect(follower.snapshot().status).toBe('broken'), SOON)
    await shows(follower, [1, 3, 4])
    await vi.waitFor(() => expect([log.opened.length, follower.snapshot().status]).toEqual([1, 'broken']), SOON)
    opening.resolve()
    await vi.waitFor(() => expect(follower.snapshot().status).toBe('following'), SOON)
    follower.stop()
  })
})

describe('[UI-52] a view has every line that the plane has', () => {
  it('lines that a stream has left out are read again, in their place', async () => {
    const log = new FakeLog(2, { missing: (n) => n % 10 !== 0 })
    const follower = new LogFollower(log.source())
    follower.start()
    await shows(follower, [1, 2])
    log.write(98)
    await shows(follower, numbers(lines(1, 100)))
    expect(follower.snapshot()).toMatchObject({ reading: 0, missed: 0, came: 98 })
    follower.stop()
  })

  it('lines that the plane has dropped are counted', async () => {
    const log = new FakeLog(60, { kept: 51 })
    const source = log.source({ first: async () => ({ ...log.page('', 3, ''), lines: lines(1, 2), newer: '>2', atEnd: true }) })
    const follower = new LogFollower(source)
    follower.start()
    await shows(follower, [1, 2, ...numbers(lines(51, 60))])
    await vi.waitFor(() => expect(follower.snapshot()).toMatchObject({ reading: 0, missed: 48 }), SOON)
    follower.stop()
  })

  it('lines that the filter excludes are neither shown nor counted as missing', async () => {
    const log = new FakeLog(3)
    const follower = new LogFollower(log.source({ isMeant: ({ place }) => place.n % 2 === 1 }))
    follower.start()
    log.write(4)
    await shows(follower, [1, 2, 3, 5, 7])
    expect([follower.snapshot().missed, log.asked]).toEqual([0, ['']])
    follower.stop()
  })

  it('a time range with an end is read to its end and not followed', async () => {
    const log = new FakeLog(10)
    const first = async () => log.page('>2', 3, '')
    const follower = new LogFollower(log.source({ first, isOver: true }))
    follower.start()
    await shows(follower, numbers(lines(3, 10)))
    await vi.waitFor(() => expect(follower.snapshot().status).toBe('ended'), SOON)
    expect(log.opened).toEqual([])
  })

  it('a joined log is read again from a while before its newest line', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const asked: unknown[] = []
    const links: boolean[] = []
    const listEndpointLogLines = async ({ query }: { query: Record<string, unknown> }) => {
      asked.push(query.cursor)
      const at = { ts: '2026-06-01T12:00:00.250Z', id: '', source: 'container', line: 'a', workerId: 'w1' }
      return { lines: [{ ...at, n: asked.length }], older: null, newer: '>1780315200250.w1.1', atEnd: true, truncatedAt: null }
    }
    const api = { listEndpointLogLines } as unknown as ApiClient
    const abort = new AbortController()
    const follow = endpointLog('e1').follow(api, { lastId: null, newer: '>1780315200000.w1.9' }, abort.signal, (isOpen) =>
      links.push(isOpen),
    )
    expect(await follow.next()).toMatchObject({ done: false, value: [{ id: '1780315200250.w1.1' }] })
    const next = follow.next()
    await vi.advanceTimersByTimeAsync(2_000)
    await next
    expect([asked, links]).toEqual([
      ['>1780315190000.-.0', '>1780315190250.-.0'],
      [true, true],
    ])
    vi.useRealTimers()
  })
})

describe('[UI-53] lines outside a view are read on demand', () => {
  it('pages of older lines are put before the shown lines', async () => {
    const follower = new LogFollower(new FakeLog(2_500).source())
    follower.start()
    await shows(follower, [2498, 2499, 2500])
    await follower.readOlder(NEVER)
    await follower.readOlder(NEVER)
    await follower.readOlder(NEVER)
    await shows(follower, numbers(lines(1, 2_500)))
    expect(follower.snapshot().older).toBeNull()
    follower.stop()
  })

  it('a view opened in the middle of a log stays there, reads page by page, and follows on request', async () => {
    const log = new FakeLog(2_000)
    const first = async () => log.page('>4', 2, '')
    const follower = new LogFollower(log.source({ first, isMiddle: true }))
    follower.start()
    await vi.waitFor(() => expect(follower.snapshot()).toMatchObject({ status: 'paused', newer: '>6', older: '<5' }), SOON)
    await follower.readNewer(NEVER)
    await shows(follower, numbers(lines(5, 1_006)))
    follower.start(true)
    await shows(follower, numbers(lines(5, 2_000)))
    follower.stop()
  })

  it('a search that is cut short continues until it has a hit', async () => {
    const log = new FakeLog(10)
    const nothing = { lines: [], newer: '>10', atEnd: true }
    const pages = [
      { ...nothing, older: '<8', truncatedAt: '<8' },
      { ...nothing, lines: lines(4, 4), older: '<4', truncatedAt: '<4' },
      { ...nothing, lines: lines(2, 2), older: null, truncatedAt: null },
    ]
    const next = async () => pages.shift() ?? { ...nothing, older: null, truncatedAt: null }
    const follower = new LogFollower(log.source({ first: next, page: next }))
    follower.start()
    await shows(follower, [2, 4])
    expect([follower.snapshot().older, pages]).toEqual([null, []])
    follower.stop()
  })

  it('a search finds lines that are not shown, on both sides', async () => {
    const log = new FakeLog(100)
    const first = async () => log.page('>39', 3, '')
    const follower = new LogFollower(log.source({ first, isMiddle: true }))
    follower.start()
    await vi.waitFor(() => expect(follower.snapshot().status).toBe('paused'), SOON)
    const found = await Promise.all([
      follower.seek('line 3', true, NEVER),
      follower.seek('line 7', false, NEVER),
      follower.seek('nothing', true, NEVER),
    ])
    expect(found.map((one) => one?.place.n)).toEqual([39, 70, undefined])
  })
})
