import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DOMAIN_MUTANTS, OBJECT_MUTANTS } from '../mutants/table.ts'

test.each([...DOMAIN_MUTANTS, ...OBJECT_MUTANTS])('planted bug "$id" still has its place in the sources', ({ file, find }) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split(find)).toHaveLength(2)
})
