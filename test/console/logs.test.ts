import { describe, expect, it, vi } from 'vitest'
import { plainText, spansOf } from '../../src/console/parts/logs/ansi.ts'
import { LineBuffer, readLine } from '../../src/console/parts/logs/buffer.ts'
import { LogFollower, type OpenLog } from '../../src/console/parts/logs/follower.ts'
import { hitsIn, markHits, nextHit } from '../../src/console/parts/logs/search.ts'

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

  it('only http and https lead somewhere', () => {
    expect(spansOf('see (https://example.com/a?b=1). or javascript:alert(1) data:text/html,x ftp://h http://[')).toEqual([
      { text: 'see (' },
      { text: 'https://example.com/a?b=1', href: 'https://example.com/a?b=1' },
      { text: '). or javascript:alert(1) data:text/html,x ftp://h http://[' },
    ])
  })

  it('what moves a cursor or names a window is not shown, and what was written over is gone', () => {
    const line = `${ESC}]0;title\u0007${ESC}[2K${ESC}[1Adone\u0000\u0008 ${ESC}[32mwell${ESC}[0m`
    expect(plainText(line)).toBe('done well')
    expect(plainText('10%\r50%\r100%\r')).toBe('100%')
    expect(plainText(`half ${ESC}[3`)).toBe('half [3')
    expect(spansOf(`half ${ESC}`)).toEqual([{ text: 'half ' }])
    expect(plainText('tab\tstays, ünïcode 🎈 too')).toBe('tab\tstays, ünïcode 🎈 too')
  })
})

const line = (plain: string) => ({ id: plain, ts: '', source: 'container', line: plain, plain })

describe('[UI-41] searching a log', () => {
  it('finds lines in any case, and goes round', () => {
    const lines = ['Loading', 'ready', 'loading again', 'done'].map(line)
    expect(hitsIn(lines, 'LOAD')).toEqual([0, 2])
    expect(hitsIn(lines, 'load', 1)).toEqual([2])
    expect(hitsIn(lines, '')).toEqual([])
    expect([nextHit([0, 2], 0, false), nextHit([0, 2], 2, false), nextHit([0, 2], 0, true), nextHit([], 0, true)]).toEqual([
      2,
      0,
      2,
      undefined,
    ])
  })

  it('marks hits over stretches of different looks', () => {
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
    const names = Array.from({ length: 12 }, (_, index) => String(index))
    buffer.append(names.slice(0, 11).map(line))
    expect([buffer.lines.length, buffer.dropped]).toEqual([11, 0])
    buffer.append(names.slice(11).map(line))
    expect([buffer.lines.map(({ id }) => id), buffer.dropped]).toEqual([names.slice(2), 2])
    buffer.prepend([line('x')])
    expect(buffer.lines).toHaveLength(10)
  })

  it('takes 100,000 lines at once, and what is older finds no room', () => {
    const buffer = new LineBuffer()
    buffer.append(Array.from({ length: 250_000 }, (_, index) => line(String(index))))
    expect([buffer.lines.length, buffer.lines[0]?.id, buffer.dropped]).toEqual([100_000, '150000', 150_000])
  })

  it('counts the lines that came too quickly to be followed', () => {
    const buffer = new LineBuffer()
    buffer.append(['t/000000000001', 't/000000000002', 't/000000000005'].map(line))
    buffer.append(['t/000000000006', 't/000000000010'].map(line))
    expect([buffer.lines.length, buffer.missed]).toEqual([5, 5])
  })

  it('reads lines, and leaves other events alone', () => {
    const data = '{"ts":"2026-06-01T12:00:00Z","source":"system","line":"a\\u001b[1mb"}'
    expect(readLine({ id: 'i', event: 'message', data })).toEqual({
      id: 'i',
      ts: '2026-06-01T12:00:00Z',
      source: 'system',
      line: 'a\u001b[1mb',
      plain: 'ab',
    })
    expect(readLine({ id: 'i', event: 'timeout', data: '' })).toBeNull()
  })
})

/** A log that says some lines at each opening, then stays open. */
function fakeLog(...openings: string[][]) {
  const opened: (string | undefined)[] = []
  const open: OpenLog = async function* ({ signal, lastEventId }) {
    opened.push(lastEventId)
    for (const id of openings.shift() ?? []) yield { id, event: 'message', data: JSON.stringify({ ts: id, source: 'system', line: id }) }
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  return { open, opened }
}

const shows = (follower: LogFollower, ids: string[]) =>
  vi.waitFor(() => expect(follower.snapshot().lines.map(({ id }) => id)).toEqual(ids), { timeout: 5_000 })

describe('[UI-43] following a log', () => {
  it('goes on behind the last line when it is taken up again', async () => {
    const { open, opened } = fakeLog(['1', '2'], ['3'])
    const follower = new LogFollower(open)
    follower.start()
    await shows(follower, ['1', '2'])
    follower.stop()
    expect(follower.snapshot().status).toBe('paused')
    follower.start()
    await shows(follower, ['1', '2', '3'])
    follower.stop()
    expect(opened).toEqual([undefined, '2'])
  })

  it('a tab follows one log at a time', async () => {
    const first = new LogFollower(fakeLog(['1']).open)
    first.start()
    await shows(first, ['1'])
    const second = new LogFollower(fakeLog(['2']).open)
    second.start()
    await shows(second, ['2'])
    expect([first.snapshot().status, second.snapshot().status]).toEqual(['other', 'following'])
    second.stop()
  })

  it('says why it cannot be followed, and tries again when it is asked to', async () => {
    let refused = true
    const { open } = fakeLog(['1'])
    const follower = new LogFollower((options) => {
      if (refused) throw new Error('pod not found')
      return open(options)
    })
    follower.start()
    await vi.waitFor(() => expect(follower.snapshot()).toMatchObject({ status: 'failed', error: new Error('pod not found') }))
    refused = false
    follower.start()
    await shows(follower, ['1'])
    follower.stop()
  })
})
