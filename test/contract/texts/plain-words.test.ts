import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from '../../support/unit.ts'

// Texts for users name their subject: a user, a caller, a client, the plane. These words leave it open.

const ROOT = resolve(import.meta.dirname, '../../..')
const VAGUE = /\b(nobody|somebody|anybody|whoever|strangers?)\b/i
/** In sources `strangers` is also an identifier, so only the other words are checked there. */
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

it('documents name the subject of each sentence', () => {
  const documents = ['*.md', 'docs/*.md', 'docs/adr/*.md', 'docs/*.json', 'docs/schema.graphql']
  expect(vagueLines(documents, VAGUE, withoutCode)).toEqual([])
  expect(vagueLines(documents, HOUSE, withoutCode)).toEqual([])
})

/** British spellings. The API is in American English; its job state CANCELLED is the one exception, so *cancelled* is none of them. */
const BRITISH_WORDS = [
  String.raw`\w*(colour|behaviour|favour|honour|neighbour)\w*`,
  '(organ|recogn|author|serial|normal|summar|initial|optim|minim|maxim|priorit|synchron|custom|util)is(e|ed|es|er|ing|ation)s?',
  'analys(e|ed|es|ing)|centres?|greys?|licences?|catalogues?|label(led|ling)|signal(led|ling)|artefacts?|judgement',
]
const BRITISH = new RegExp(String.raw`\b(${BRITISH_WORDS.join('|')})\b`, 'i')

it('the console, the command line and the documents of the API are in American spelling', () => {
  expect(vagueLines(['src/{console,cli}/**/*.{ts,tsx}'], BRITISH, (text) => text)).toEqual([])
  expect(vagueLines(['docs/{console,cli}.md', 'docs/*.json', 'docs/schema.graphql'], BRITISH, withoutCode)).toEqual([])
  expect('Continue with your organisation; the grey value; labelled'.match(new RegExp(BRITISH, 'gi'))).toHaveLength(3)
})

it('texts of the product name the subject of each sentence', () => {
  expect(vagueLines(['src/**/*.{ts,tsx}'], VAGUE_IN_SOURCES, withoutComments)).toEqual([])
  // `'former'` is also a value between objects, which no user reads.
  expect(vagueLines(['src/**/*.{ts,tsx}'], HOUSE, (text) => withoutComments(text).replaceAll("'former'", ''))).toEqual([])
})

/** A sentence without a subject of its own, by its first words. */
const NO_SUBJECT = /^(What|Who|Whoever|Whom|Whose|One that|One which|Those that|Those who)\b/
/** House words of docs/glossary.md, and words that leave open whom they mean. Code that a comment quotes is no word. */
const HOUSE =
  /\b(nobody|somebody|anybody|whoever|strangers?|former|wish(es|ed)?|giv(e|es|en|ing) way|at stake|an(other)? look|makes? a look|he|him|himself|hold against|held against)\b/i
/** Rows of oxlint and biome have their reasons checked by those. */
const DIRECTIVE = /^(biome-ignore|oxlint-|@ts-)/

/** The sentences of a source's comments, as one line each. */
function sentencesOf(text: string): string[] {
  const comments = text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ ?(.*)$/gm)
  return [...comments].flatMap(([, block, line]) => {
    const body = (block ?? line ?? '')
      .replaceAll(/^\s*\* ?/gm, ' ')
      .replaceAll(/`[^`]*`/g, '``')
      .replaceAll(/\s+/g, ' ')
      .trim()
    return DIRECTIVE.test(body) ? [] : body.split(/(?<=[.:;!?]) /)
  })
}

it('comments name their subject, in the terms of the glossary', () => {
  const files = ['src/**/*.{ts,tsx}', 'durable-objects/**/*.ts'].flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  expect(files.length).toBeGreaterThan(1_000)
  const wrong = files.flatMap((file) => {
    const sentences = sentencesOf(readFileSync(join(ROOT, file), 'utf8'))
    return sentences.filter((sentence) => NO_SUBJECT.test(sentence) || HOUSE.test(sentence)).map((sentence) => `${file}: ${sentence}`)
  })
  expect(wrong).toEqual([])
})

it('the search finds such sentences and words', () => {
  const found = sentencesOf('/** Good. What of it counts. */\nconst a = 1 // One that is `former`\n// the former one')
  expect(found).toEqual(['Good.', 'What of it counts.', 'One that is ``', 'the former one'])
  expect(found.map((sentence) => NO_SUBJECT.test(sentence) || HOUSE.test(sentence))).toEqual([false, true, true, true])
})
