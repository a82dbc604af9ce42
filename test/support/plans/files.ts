// Runs in Node: the golden files of test/plans.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGolden, printGolden, type Section } from './golden.ts'

const FOLDER = join(import.meta.dirname, '../../plans')
const SUFFIX = '.txt'

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
