// Runs in Node: the golden files of test/plans.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGolden, printGolden, type Section } from './golden.ts'

const FOLDER = join(import.meta.dirname, '../../plans')
const SUFFIX = '.txt'
/** Test files that `npm run plans` has not tried yet, a line each; no file is there when it has tried all. */
const NOT_TRIED = join(FOLDER, 'not-tried.list')

/** The sections of every store, by its name. */
export type Plans = Record<string, Section[]>

export function readPlans(): Plans {
  mkdirSync(FOLDER, { recursive: true })
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(SUFFIX))
  return Object.fromEntries(files.map((file) => [file.slice(0, -SUFFIX.length), parseGolden(readFileSync(join(FOLDER, file), 'utf8'))]))
}

export function writePlans(plans: Plans): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const [store, sections] of Object.entries(plans)) writeFileSync(join(FOLDER, store + SUFFIX), printGolden(store, sections))
}

/** Test files of which nobody has written down yet what they make: what is new in them is no fault. */
export function readNotTried(): string[] {
  return existsSync(NOT_TRIED) ? readFileSync(NOT_TRIED, 'utf8').split('\n').filter(Boolean) : []
}

export function writeNotTried(files: readonly string[]): void {
  if (files.length === 0) rmSync(NOT_TRIED, { force: true })
  else writeFileSync(NOT_TRIED, `${files.toSorted().join('\n')}\n`)
}
