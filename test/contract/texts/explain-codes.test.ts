import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { WHY_CODES } from '../../../src/contract/explain/explain.ts'
import { describe, expect, it } from '../../support/unit.ts'

const FOLDER = resolve(import.meta.dirname, '../../worker/explain')
const TESTS = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'))

describe('[WHY-1] causes', () => {
  it('each is produced by a test against the plane', () => {
    expect(WHY_CODES.filter((code) => !TESTS.some((text) => text.includes(`'${code}'`)))).toEqual([])
  })
})
