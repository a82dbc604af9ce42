import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from '../support/unit.ts'

const TESTS = join(import.meta.dirname, '..')
const WAITING = 'support/time.ts'
/** A promise that nothing but time fulfils, under whatever name. */
const SLEEP = /\btimers\/promises'|new Promise\b[^;\n]*\bsetTimeout\(|\bscheduler\.wait\(|\bAtomics\.wait\(/

const files = readdirSync(TESTS, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))

describe('tests', () => {
  it(`wait for time in ${WAITING} alone: elsewhere they ask for what they wait for`, () => {
    const waiting = files.filter((file) => SLEEP.test(readFileSync(file, 'utf8'))).map((file) => relative(TESTS, file))
    expect(waiting.toSorted()).toEqual([WAITING])
  })
})
