import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from '../support/unit.ts'

// Texts for users name their subject: a user, a caller, a client, the plane. These words leave it open.

const ROOT = resolve(import.meta.dirname, '../..')
const VAGUE = /\b(nobody|somebody|anybody|whoever|strangers?)\b/i
/** In sources `strangers` is also a name of ours; texts for users there are held by the other words. */
const VAGUE_IN_SOURCES = /\b([Nn]obody|[Ss]omebody|[Aa]nybody|[Ww]hoever)\b/
/** Not for users, or no sentence; each with its reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'src/host-agent/network/dns/message.ts': 'the mailbox of a zone in a DNS answer',
  'docs/glossary.md': 'the list of these words',
}

/** A source without its comments, which tests of texts do not judge. */
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '')
/** Prose without code and without names of files. */
const withoutCode = (text: string) => text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]+`/g, '')

function vagueLines(patterns: readonly string[], vague: RegExp, strip: (text: string) => string): string[] {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter((file) => EXEMPT[file] === undefined)
  expect(files.length).toBeGreaterThan(0)
  return files.flatMap((file) => {
    const lines = strip(readFileSync(join(ROOT, file), 'utf8')).split('\n')
    return lines.filter((line) => vague.test(line)).map((line) => `${file}: ${line.trim().slice(0, 200)}`)
  })
}

it('documents name whom a sentence is about', () => {
  expect(vagueLines(['*.md', 'docs/*.md', 'docs/*.json', 'docs/schema.graphql'], VAGUE, withoutCode)).toEqual([])
})

it('texts of the product name whom a sentence is about', () => {
  expect(vagueLines(['src/**/*.{ts,tsx}'], VAGUE_IN_SOURCES, withoutComments)).toEqual([])
})
