import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '../support/unit.ts'

const SUITE = join(import.meta.dirname, '../conformance')
/** INV-1 to this one, as docs/SPEC.md lists them. */
const INVARIANTS = 33
/** Folders of the plane's own code. The suite may use code that talks to a plane from outside or starts one. */
const INSIDE = /from '[./]*\/(?:src\/(?:domain|db|services|http|contract|app|worker|env|log)|durable-objects)\b/

const files = readdirSync(SUITE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') }))
const titles = files.flatMap(({ text }) => [...text.matchAll(/\bscenario\(\s*(['"`])(.*?)\1,/g)].map((match) => match[2] ?? ''))

describe('the conformance suite', () => {
  it('leads every title with its invariant and the rules behind it', () => {
    expect(titles.length).toBeGreaterThan(INVARIANTS)
    for (const title of titles) expect(title).toMatch(/^\[INV-\d+\] [A-Z]+(?:-\d+)?(?:, [A-Z]+-\d+)*: \S/)
  })

  for (let invariant = 1; invariant <= INVARIANTS; invariant += 1) {
    it(`has a test of INV-${invariant}`, () => {
      expect(titles.some((title) => title.startsWith(`[INV-${invariant}] `))).toBe(true)
    })
  }

  for (const { name, text } of files) {
    it(`${name} knows nothing of the plane's inside and skips nothing`, () => {
      expect(INSIDE.exec(text)?.[0]).toBeUndefined()
      expect(/\b(?:it|test|describe|scenario)\.(?:skip|only|todo)/.exec(text)?.[0]).toBeUndefined()
    })
  }
})
