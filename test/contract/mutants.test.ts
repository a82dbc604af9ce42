import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { plantedBugs, withBug } from '../support/mutant.ts'

const ROOT = fileURLToPath(import.meta.resolve('../../'))
const BUGS = await plantedBugs(ROOT)

test('the text of each planted bug occurs exactly once in its file', () => {
  for (const bug of BUGS) expect(withBug(readFileSync(join(ROOT, bug.file), 'utf8'), bug), bug.id).not.toBe('')
})

test('each table of planted bugs lies beside the test file that must fail', () => {
  expect(BUGS.filter((bug) => !existsSync(join(ROOT, bug.test)))).toEqual([])
})

test('each planted bug has its own name', () => {
  expect(new Set(BUGS.map(({ id }) => id)).size).toBe(BUGS.length)
})
