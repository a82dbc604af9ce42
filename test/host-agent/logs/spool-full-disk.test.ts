import { beforeEach, expect, test, vi } from 'vitest'
import { LogSpool } from '../../../src/host-agent/logs/spool.ts'
import { tempDir } from '../support/temp-dir.ts'

const disk = { isFull: false }

vi.mock(import('node:fs'), async (original) => {
  const fs = await original()
  return {
    ...fs,
    // A disk that fills up in the middle of a write keeps its beginning.
    appendFileSync: ((path: string, text: string, options: object) => {
      fs.appendFileSync(path, disk.isFull ? text.slice(0, text.length / 2) : text, options)
      if (disk.isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }) as typeof fs.appendFileSync,
  }
})

const access = { kind: 'pod' as const, ownerId: 'pod', grant: 'g' }
const text = (line: string) => ({ at: 5, source: 'container' as const, line })
const linesOf = (spool: LogSpool | undefined) => spool?.peek(0).map(({ seq, line }) => [seq, line])

beforeEach(() => {
  disk.isFull = false
})

function refuse(spool: LogSpool, line: string, offset: number): void {
  disk.isFull = true
  expect(() => spool.append([text(line)], { offset })).toThrow('ENOSPC')
  disk.isFull = false
}

test('[HOST-12] a line that the disk refused several times is kept once it could be written, whatever is acknowledged meanwhile', () => {
  const dir = tempDir('spool')
  const spool = LogSpool.create(dir, 'w', access)
  spool.append([text('a')], { offset: 1 })
  for (let attempt = 0; attempt < 3; attempt += 1) refuse(spool, 'b', 2)
  spool.append([text('b')], { offset: 2 })
  // The plane has only the lines that were sent before the disk was full.
  spool.ack(1)
  spool.append([text('c')], { offset: 3 })
  const expected = [
    [2, 'b'],
    [3, 'c'],
  ]
  expect(linesOf(spool)).toEqual(expected)
  expect(linesOf(LogSpool.load(dir, 'w'))).toEqual(expected)
})

test('[HOST-12] the position in the source survives a crash on a full disk, also when all kept lines are acknowledged or dropped', () => {
  const dir = tempDir('spool')
  const spool = LogSpool.create(dir, 'w', access)
  spool.append([text('a')], { offset: 1 })
  for (let attempt = 0; attempt < 2; attempt += 1) refuse(spool, 'b', 2)
  spool.ack(1)
  expect(spool.dropOldest()).toBe(false)
  const next = LogSpool.load(dir, 'w')
  expect(next?.position).toEqual({ offset: 1 })
  next?.append([text('b')], { offset: 2 })
  expect(linesOf(next)).toEqual([[2, 'b']])
})
