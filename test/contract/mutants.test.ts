import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DOMAIN_MUTANTS, OBJECT_MUTANTS } from '../mutants/table.ts'

const ROOT = fileURLToPath(import.meta.resolve('../../'))

test.each([...DOMAIN_MUTANTS, ...OBJECT_MUTANTS])('planted bug "$id" still has its place in the sources', ({ file, find }) => {
  expect(readFileSync(`${ROOT}${file}`, 'utf8').split(find)).toHaveLength(2)
})
