import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SPEC = readFileSync(join(ROOT, 'docs/SPEC.md'), 'utf8')
/** Families of ids that are this project's own: each rule has one row. */
const OWN = /\b(?:PP|HOST|RES|RST|KEY|ADM)-\d+\b|\bP\d+\b(?=[\],])/g
const DECISIONS = readdirSync(join(ROOT, 'docs/adr'))

const sources = ['src', 'durable-objects', 'test', 'bench', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|md)$/.test(entry.name))
    .map((entry) => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') })),
)
/** Ids at the head of a row. */
const defined = [...SPEC.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, head = '']) => head.match(/\b(?:[A-Z]+-\d+|P\d+)\b/g) ?? [])

describe('docs/SPEC.md', () => {
  it('states each rule of its own once', () => {
    const own = defined.filter((id) => /^(PP|HOST|RES|RST|KEY|ADM)-|^P\d/.test(id))
    expect(own.filter((id, index) => own.indexOf(id) !== index)).toEqual([])
    expect(own.length).toBeGreaterThan(100)
  })

  it('states every rule that code, tests and documents name', () => {
    const named = new Set(sources.flatMap(({ text }) => text.match(OWN) ?? []))
    expect([...named].filter((id) => !defined.includes(id))).toEqual([])
  })
})

describe('docs/adr', () => {
  it('has a number for each decision', () => {
    const numbers = DECISIONS.map((name) => name.slice(0, 4))
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([])
    for (const name of DECISIONS) expect(readFileSync(join(ROOT, 'docs/adr', name), 'utf8')).toContain(`# ${name.slice(0, 4)} `)
  })

  it('has every decision that is referred to', () => {
    const referred = new Set(sources.flatMap(({ text }) => [...text.matchAll(/\badr\/(\d{4})/g)].map(([, number]) => number)))
    expect([...referred].filter((number) => !DECISIONS.some((name) => name.startsWith(`${number}-`)))).toEqual([])
  })
})
