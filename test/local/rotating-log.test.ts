import { existsSync, mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openRotatingLog } from '../../src/node/rotating-log.ts'
import { tempDir } from '../host-agent/support/temp-dir.ts'

let path: string
beforeEach(() => {
  path = join(tempDir('rotating-log'), 'a.log')
})
const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n')

test('[HOST-170] a log rotates while it is written: every line is whole, the newest files are kept, the oldest goes', async () => {
  const log = openRotatingLog(path, { maxBytes: 40, keep: 2 })
  for (let line = 10; line < 90; line += 1) log.write(`line ${line}`)
  await log.close()
  expect(linesOf(path)).toEqual(['line 85', 'line 86', 'line 87', 'line 88', 'line 89'])
  expect(linesOf(`${path}.1`)).toEqual(['line 80', 'line 81', 'line 82', 'line 83', 'line 84'])
  expect(linesOf(`${path}.2`)).toHaveLength(5)
  expect(existsSync(`${path}.3`)).toBe(false)
  expect(log.dropped()).toBe(0)
})

test('[HOST-170] a log continues after the lines of an earlier process, on a new line, and counts their size', async () => {
  writeFileSync(path, 'whole\ncut o')
  const log = openRotatingLog(path, { maxBytes: 24 })
  log.write('first')
  log.write('second')
  await log.close()
  expect(linesOf(`${path}.1`)).toEqual(['whole', 'cut o', 'first'])
  expect(linesOf(path)).toEqual(['second'])
})

test('[HOST-170] a line that is larger than a file has one of its own', async () => {
  const log = openRotatingLog(path, { maxBytes: 10 })
  log.write('x'.repeat(50))
  log.write('y')
  await log.close()
  expect(linesOf(`${path}.1`)).toEqual(['x'.repeat(50)])
  expect(linesOf(path)).toEqual(['y'])
})

test('[HOST-170] lines that a full disk refuses are dropped and counted, without an exception', async () => {
  symlinkSync('/dev/full', path)
  const log = openRotatingLog(path)
  for (let line = 0; line < 30; line += 1) log.write(`line ${line}`)
  expect(log.dropped()).toBe(30)
  expect(log.tail()).toEqual(Array.from({ length: 20 }, (_, line) => `line ${line + 10}`))
  await log.close()
})

test('[HOST-170] one line says how many were dropped once writing works again, in the text of the caller', async () => {
  const log = openRotatingLog(path, { maxBytes: 10, keep: 1, noteDropped: (lines, reason) => `lost ${lines}: ${reason.slice(0, 8)}` })
  log.write('line 1')
  mkdirSync(`${path}.1`)
  log.write('line 2')
  log.write('line 3')
  expect(log.dropped()).toBe(2)
  rmdirSync(`${path}.1`)
  log.write('line 4')
  log.write('5')
  await log.close()
  expect(linesOf(`${path}.1`)).toEqual([expect.stringMatching(/^lost 2: /), 'line 4'])
  expect(linesOf(path)).toEqual(['5'])
  expect(log.dropped()).toBe(2)
})

test('[HOST-170] a path that cannot be a log is refused at once', () => {
  writeFileSync(path, '')
  expect(() => openRotatingLog(join(path, 'below'))).toThrow('ENOTDIR')
})
