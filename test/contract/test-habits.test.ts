import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { LONG_FILES } from '../support/runner/long-first.ts'
import { describe, expect, it } from '../support/unit.ts'

const TESTS = join(import.meta.dirname, '..')
const WAITING = 'support/time.ts'
/** A promise that only time fulfils, under any name. */
const SLEEP = /\btimers\/promises'|new Promise\b[^;\n]*\bsetTimeout\(|\bscheduler\.wait\(|\bAtomics\.wait\(/

const files = readdirSync(TESTS, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
  .map((entry) => join(entry.parentPath, entry.name))

const PLATFORM = /^(import|\}).* from 'cloudflare:test'/m
/** Files that may import the platform's own test functions: tests get them from the harness. */
const HARNESS = ['support/harness.ts', 'support/runner/apply-migrations.ts']

/** A longer folder hides the file that a change belongs to. */
const MOST_FILES = 20

const ASKING_AGAIN = /\bvi\.waitFor\(|\bvi\.waitUntil\(|\bexpect\s*\.poll\(/g
const HOW_LONG = /\bSOON\b|\btimeout:|, [\d_]+$/

/** The text between the bracket that ends before `start` and its closing bracket. */
function argumentsFrom(text: string, start: number): string {
  let depth = 1
  let end = start
  for (; depth > 0 && end < text.length; end += 1) depth += '([{'.includes(text[end] ?? '') ? 1 : ')]}'.includes(text[end] ?? '') ? -1 : 0
  return text.slice(start, end - 1)
}

describe('tests', () => {
  it('use the platform only through the harness', () => {
    const direct = files.filter((file) => PLATFORM.test(readFileSync(file, 'utf8'))).map((file) => relative(TESTS, file))
    expect(direct.toSorted()).toEqual(HARNESS)
  })

  it('that run long are named as they are: a renamed one would start last, and every worker would wait for it', () => {
    const known = new Set(files.map((file) => relative(TESTS, file)))
    expect(LONG_FILES.filter((file) => !known.has(file))).toEqual([])
  })

  it(`are sorted by noun: no folder of tests holds more than ${MOST_FILES} files`, () => {
    const sizes = Map.groupBy(files, (file) => relative(TESTS, dirname(file)))
    expect([...sizes].flatMap(([folder, { length }]) => (length > MOST_FILES ? [`${folder}: ${length}`] : []))).toEqual([])
  })

  it(`wait for time in ${WAITING} alone: elsewhere they poll for the condition`, () => {
    const waiting = files.filter((file) => SLEEP.test(readFileSync(file, 'utf8'))).map((file) => relative(TESTS, file))
    expect(waiting.toSorted()).toEqual([WAITING])
  })

  it('state a timeout for polls: the default of one second is too short on a busy machine', () => {
    const hasty = files.flatMap((file) => {
      const text = readFileSync(file, 'utf8')
      const calls = [...text.matchAll(ASKING_AGAIN)].map(({ index, 0: call }) => argumentsFrom(text, index + call.length))
      return calls.filter((call) => !HOW_LONG.test(call.trim().replace(/,$/, ''))).map((call) => `${relative(TESTS, file)}: ${call}`)
    })
    expect(hasty).toEqual([])
  })
})
