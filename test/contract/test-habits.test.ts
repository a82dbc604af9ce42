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

const PLATFORM = /^(import|\}).* from 'cloudflare:test'/m
/** Who may import the platform's own test functions: tests get them from the harness. */
const HARNESS = ['support/apply-migrations.ts', 'support/harness.ts']

describe('tests', () => {
  it('meet the platform in the harness alone', () => {
    const direct = files.filter((file) => PLATFORM.test(readFileSync(file, 'utf8'))).map((file) => relative(TESTS, file))
    expect(direct.toSorted()).toEqual(HARNESS)
  })

  it(`wait for time in ${WAITING} alone: elsewhere they ask for what they wait for`, () => {
    const waiting = files.filter((file) => SLEEP.test(readFileSync(file, 'utf8'))).map((file) => relative(TESTS, file))
    expect(waiting.toSorted()).toEqual([WAITING])
  })
})
