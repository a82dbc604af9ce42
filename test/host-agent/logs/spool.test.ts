import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { batchDueInMs, composeBatches, REQUEST_BYTES } from '../../../src/host-agent/logs/batch.ts'
import { LogSpool, SEGMENT_BYTES } from '../../../src/host-agent/logs/spool.ts'
import type { LogLine } from '../../../src/host-protocol/logs.ts'
import { tempDir } from '../support/temp-dir.ts'

const access = { kind: 'worker' as const, ownerId: 'ep', grant: 'g' }
const text = (line: string) => ({ at: 5, source: 'container' as const, line })
const seqs = (lines: readonly LogLine[]) => lines.map(({ seq }) => seq)

describe('spool', () => {
  test('[HOST-12] numbers lines without gaps, hands out the oldest that are not acknowledged, and survives a restart', ({ expect }) => {
    const dir = tempDir('spool')
    const spool = LogSpool.create(dir, 'w', access)
    spool.append([text('a'), text('b')], { offset: 2 })
    spool.append([text('c')], { offset: 3 })
    expect(spool.peek(0)).toEqual([
      { seq: 1, ...text('a') },
      { seq: 2, ...text('b') },
      { seq: 3, ...text('c') },
    ])
    spool.ack(2)
    const again = LogSpool.load(dir, 'w')
    expect(again?.peek(0)).toEqual([{ seq: 3, ...text('c') }])
    expect(again?.position).toEqual({ offset: 3 })
    expect(again?.access).toEqual(access)
    again?.append([text('d')])
    expect(again?.pendingLines).toBe(2)
    again?.ack(4)
    // All lines are delivered, and the numbers and the position still continue from here.
    const third = LogSpool.load(dir, 'w')
    expect(third?.pendingLines).toBe(0)
    expect(third?.position).toEqual({ offset: 3 })
    third?.append([text('e')], { offset: 4 })
    expect(seqs(third?.peek(0) ?? [])).toEqual([5])
  })

  test('[HOST-12] a batch has 128 lines at most', ({ expect }) => {
    const spool = LogSpool.create(tempDir('spool'), 'w', access)
    spool.append(Array.from({ length: 130 }, (_, n) => text(String(n))))
    expect(spool.peek(0)).toHaveLength(128)
    spool.ack(128)
    expect(seqs(spool.peek(0))).toEqual([129, 130])
  })

  test('a chunk that was half written counts for nothing, together with its position', ({ expect }) => {
    const dir = tempDir('spool')
    const spool = LogSpool.create(dir, 'w', access)
    spool.append([text('a')], { offset: 1 })
    const [segment = ''] = readdirSync(join(dir, 'w')).filter((name) => name.endsWith('.jsonl'))
    appendFileSync(join(dir, 'w', segment), '{"first":2,"lines":[[5,"container","b"],[5,"contai')
    const again = LogSpool.load(dir, 'w')
    expect(again?.position).toEqual({ offset: 1 })
    again?.append([text('b')], { offset: 2 })
    expect(again?.peek(0).map(({ line }) => line)).toEqual(['a'])
    again?.ack(1)
    expect(again?.peek(0)).toEqual([{ seq: 2, ...text('b') }])
    expect(LogSpool.load(dir, 'w')?.peek(0)).toEqual([{ seq: 2, ...text('b') }])
  })

  test('[HOST-13] a drop is reported in its place, once, and counts the lines that the plane does not have', ({ expect }) => {
    const dir = tempDir('spool')
    const spool = LogSpool.create(dir, 'w', access)
    const big = 'x'.repeat(SEGMENT_BYTES)
    expect(spool.dropOldest()).toBe(false)
    for (let n = 1; n <= 3; n += 1) spool.append([text(String(n)), text(big)], { n })
    spool.ack(1)
    expect(spool.dropOldest()).toBe(true)
    expect(spool.peek(9).slice(0, 2)).toEqual([
      { seq: 2, at: 5, source: 'system', line: '1 lines dropped: the workload wrote more than this host could buffer for the plane' },
      { seq: 3, ...text('2') },
    ])
    expect(spool.dropOldest()).toBe(true)
    expect(spool.peek(9)[0]).toMatchObject({ seq: 4, source: 'system', line: expect.stringMatching(/^3 lines dropped/) })
    // The newest segment holds the position, so it stays.
    expect(spool.dropOldest()).toBe(false)
    const again = LogSpool.load(dir, 'w')
    expect(seqs(again?.peek(9) ?? [])).toEqual([4, 5, 6])
    expect(again?.pendingLines).toBe(3)
    again?.ack(4)
    expect(seqs(again?.peek(9) ?? [])).toEqual([5, 6])
    expect(again?.position).toEqual({ n: 3 })
  })

  test('[HOST-13] an answer that arrives after the drop cancels its report: the plane has the lines', ({ expect }) => {
    const spool = LogSpool.create(tempDir('spool'), 'w', access)
    for (let n = 1; n <= 2; n += 1) spool.append([text('x'.repeat(SEGMENT_BYTES))])
    spool.dropOldest()
    spool.ack(1)
    expect(seqs(spool.peek(0))).toEqual([2])
  })

  test('[HOST-13] a log dropped as a whole is reported too, also after a restart, and then nothing is left to send', ({ expect }) => {
    const dir = tempDir('spool')
    const spool = LogSpool.create(dir, 'w', access)
    spool.append([text('a'), text('b')])
    spool.ack(1)
    spool.append([text('exited')], undefined, true)
    spool.dropAll()
    expect(spool.bytes).toBe(0)
    const again = LogSpool.load(dir, 'w')
    expect(again?.isEnded).toBe(true)
    expect(again?.pendingLines).toBe(1)
    expect(again?.peek(7)).toEqual([
      { seq: 3, at: 7, source: 'system', line: '2 lines dropped: the workload wrote more than this host could buffer for the plane' },
    ])
    again?.ack(3)
    expect(again?.pendingLines).toBe(0)
  })

  test('numbers that the plane has and this disk lost are not used again', ({ expect }) => {
    const spool = LogSpool.create(tempDir('spool'), 'w', access)
    spool.append([text('a')])
    spool.ack(50)
    spool.append([text('b')])
    expect(seqs(spool.peek(0))).toEqual([51])
  })

  test('acknowledged segments leave the disk; a damaged spool is not loaded', ({ expect }) => {
    const dir = tempDir('spool')
    const spool = LogSpool.create(dir, 'w', access)
    for (let n = 1; n <= 4; n += 1) spool.append([text('x'.repeat(SEGMENT_BYTES))])
    const files = () => readdirSync(join(dir, 'w')).filter((name) => name.endsWith('.jsonl'))
    expect(files()).toHaveLength(4)
    spool.ack(3)
    expect(files()).toEqual(['000000000004.jsonl'])
    expect(readFileSync(join(dir, 'w', 'state.json'), 'utf8')).toContain('"ackedSeq":3')
    writeFileSync(join(dir, 'w', 'state.json'), 'x')
    expect(LogSpool.load(dir, 'w')).toBeUndefined()
    spool.remove()
    expect(existsSync(join(dir, 'w'))).toBe(false)
  })
})

test('[HOST-13] lines that the disk has lost are reported like dropped ones', ({ expect }) => {
  const dir = tempDir('spool')
  const spool = LogSpool.create(dir, 'w', access)
  spool.append([text('a'), text('b')])
  for (const name of readdirSync(join(dir, 'w')).filter((file) => file.endsWith('.jsonl'))) writeFileSync(join(dir, 'w', name), 'x')
  expect(spool.peek(7)).toEqual([
    { seq: 2, at: 7, source: 'system', line: '2 lines dropped: the workload wrote more than this host could buffer for the plane' },
  ])
})

describe('batches', () => {
  test('[HOST-12] are due a second after their first line, or as soon as they are full', ({ expect }) => {
    expect(batchDueInMs(1, 1_000, 1_000)).toBe(1_000)
    expect(batchDueInMs(127, 1_000, 1_999)).toBe(1)
    expect(batchDueInMs(127, 1_000, 2_000)).toBe(0)
    expect(batchDueInMs(127, 1_000, 9_000)).toBe(0)
    expect(batchDueInMs(128, 1_000, 1_000)).toBe(0)
  })

  test('[HOST-12] fit into one request, as JSON, and one workload cannot crowd out its own first line', ({ expect }) => {
    const lines = (count: number, line: string) => Array.from({ length: count }, (_, index) => ({ seq: index + 1, ...text(line) }))
    const many = Array.from({ length: 20 }, (_, index) => ({ workloadId: `w${index}`, access, lines: lines(200, 'x') }))
    const batches = composeBatches(many)
    expect(batches).toHaveLength(16)
    expect(batches.every((batch) => batch.lines.length === 128)).toBe(true)
    // A control character takes six bytes of JSON.
    const heavy = composeBatches([
      { workloadId: 'a', access, lines: lines(100, '\u0001'.repeat(16_384)) },
      { workloadId: 'b', access, lines: lines(100, 'x'.repeat(16_384)) },
    ])
    expect(heavy[0]?.lines.length).toBe(5)
    expect(heavy[1]?.lines.length).toBe(1)
    expect(Buffer.byteLength(JSON.stringify({ batches: heavy }))).toBeLessThan(REQUEST_BYTES + 4_096)
    expect(composeBatches([])).toEqual([])
  })
})
