import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nodesOf, syntaxOf, textOf } from '../../support/texts/syntax.ts'
import { expect, it } from '../../support/unit.ts'

// Texts for users, comments and titles of tests name their subject: a user, a caller, a client, the plane. These words leave it open.

const ROOT = resolve(import.meta.dirname, '../../..')
const ALL = ['{src,durable-objects,scripts,bench,test}/**/*.{ts,tsx}']
/** House words of docs/glossary.md, and words that leave open whom they mean. */
const HOUSE = new RegExp(
  `\\b(${[
    'nobody|somebody|anybody|whoever|strangers?|he|him|himself|former|wish(es|ed)?|giv(e|es|en|ing) way|hold against|held against',
    'an(other)? look|makes? a look|look(s|ed)? again|tells|told|learn(s|ed|t)?|at stake|manners?|faces|doors?|news|witness',
  ].join('|')})\\b`,
  'i',
)
/** Not for users, or no sentence; each with its reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'src/host-agent/network/dns/message.ts': 'the mailbox of a zone in a DNS answer',
  'docs/glossary.md': 'the list of these words',
  'durable-objects/endpoint/store/schema.ts': 'names of columns',
  'durable-objects/endpoint/store/workers/worker-store.ts': 'names of columns',
  'test/contract/texts/plain-words.test.ts': 'these words',
}

/** The sources or documents that match, with their text. */
function filesOf(patterns: readonly string[]): { file: string; text: string }[] {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] }))
  expect(files.length).toBeGreaterThan(0)
  return files.filter((file) => EXEMPT[file] === undefined).map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
}

/** Prose without code and without names of files. */
const withoutCode = (text: string) => text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]+`/g, '')

it('documents name the subject of each sentence', () => {
  const wrong = filesOf(['*.md', 'docs/*.md', 'docs/a*/*.md', 'docs/*.json', 'docs/schema.graphql']).flatMap(({ file, text }) => {
    const lines = withoutCode(text).split('\n')
    return lines.filter((line) => HOUSE.test(line)).map((line) => `${file}: ${line.trim().slice(0, 200)}`)
  })
  expect(wrong).toEqual([])
})

/** British spellings. The API is in American English; its job state CANCELLED is the one exception, so *cancelled* is none of them. */
const BRITISH_WORDS = [
  String.raw`\w*(colour|behaviour|favour|honour|neighbour)\w*`,
  '(organ|recogn|author|serial|normal|summar|initial|optim|minim|maxim|priorit|synchron|custom|util)is(e|ed|es|er|ing|ation)s?',
  'analys(e|ed|es|ing)|centres?|greys?|licences?|catalogues?|label(led|ling)|signal(led|ling)|artefacts?|judgement',
]
const BRITISH = new RegExp(String.raw`\b(${BRITISH_WORDS.join('|')})\b`, 'i')

it('the console, the command line and all documents are in American spelling', () => {
  const sources = filesOf(['src/{console,cli}/**/*.{ts,tsx}', 'docs/*.json', 'docs/schema.graphql'])
  const prose = filesOf(['*.md', 'docs/*.md', 'docs/a*/*.md']).map(({ file, text }) => ({ file, text: withoutCode(text) }))
  const wrong = [...sources, ...prose].flatMap(({ file, text }) =>
    text.split('\n').flatMap((line) => (BRITISH.test(line) ? [`${file}: ${line.trim().slice(0, 200)}`] : [])),
  )
  expect(wrong).toEqual([])
  expect('Continue with your organisation; the grey value; labelled'.match(new RegExp(BRITISH, 'gi'))).toHaveLength(3)
})

it('texts of the product name the subject of each sentence', () => {
  const sources = filesOf(['{src,durable-objects}/**/*.{ts,tsx}']).filter(({ text }) => HOUSE.test(text))
  const wrong = sources.flatMap(({ file, text }) =>
    [...nodesOf(syntaxOf(file, text).program)].flatMap((node) => {
      const shown = textOf(node)?.trim() ?? ''
      // A single word is a value of the code.
      return shown.includes(' ') && HOUSE.test(shown) ? [`${file}: ${shown.slice(0, 200)}`] : []
    }),
  )
  expect(wrong).toEqual([])
})

/** A sentence without a subject of its own, by its first words. */
const NO_SUBJECT = /^(What|Who|Whoever|Whom|Whose|One that|One which|Those that|Those who)\b/
/** A source without a match has no wrong sentence or title, and is not parsed, which takes long. */
const mayBeWrong = (text: string) =>
  HOUSE.test(text) || /\b(what|whose?|whom|whoever|one that|one which|those that|those who)\b/i.test(text)
/** Rows of oxlint and biome have their reasons checked by those. */
const DIRECTIVE = /^(biome-ignore|oxlint-|@ts-)/

/** The sentences of a source's comments, as one line each. Code that a comment quotes is left out. */
function sentencesOf(file: string, text: string): string[] {
  const { comments } = syntaxOf(file, text)
  const bodies: string[] = []
  for (const [index, { type, value, start }] of comments.entries()) {
    const before = comments[index - 1]
    // Line comments in a row are one text.
    const goesOn = type === 'Line' && before?.type === 'Line' && /^\n *$/.test(text.slice(before.end, start))
    if (goesOn) bodies.push(`${bodies.pop()} ${value}`)
    else bodies.push(type === 'Block' ? value.replaceAll(/^\s*\*/gm, ' ') : value)
  }
  return bodies.flatMap((body) => {
    const line = body
      .replaceAll(/`[^`]*`/g, '``')
      .replaceAll(/\s+/g, ' ')
      .trim()
    return DIRECTIVE.test(line) ? [] : line.split(/(?<=[.:;!?]) /)
  })
}

it('comments name their subject, in the terms of the glossary', () => {
  const files = filesOf(ALL)
  expect(files.length).toBeGreaterThan(2_000)
  const wrong = files
    .filter(({ text }) => mayBeWrong(text))
    .flatMap(({ file, text }) =>
      sentencesOf(file, text)
        .filter((sentence) => NO_SUBJECT.test(sentence) || HOUSE.test(sentence))
        .map((sentence) => `${file}: ${sentence}`),
    )
  expect(wrong).toEqual([])
})

const TEST_CALL = /^(describe|it|test)\b/
/** A title without the ids of its rules. */
const withoutIds = (title: string) => title.replace(/^(\s*(\[[^\]]*\]|[A-Z][A-Z\d]*-\d+[a-z]?|,|:))*\s*/, '')

/** The titles of a file's tests and of their groups. */
function titlesOf(file: string, text: string): string[] {
  return [...nodesOf(syntaxOf(file, text).program)].flatMap((node) => {
    if (node.type !== 'CallExpression') return []
    const { callee, arguments: given } = node as unknown as {
      callee: { start: number; end: number }
      arguments: Parameters<typeof textOf>[0][]
    }
    const [first] = given
    const title = TEST_CALL.test(text.slice(callee.start, callee.end)) && first ? textOf(first) : undefined
    return title === undefined ? [] : [withoutIds(title)]
  })
}

it('titles of tests name the behaviour, in the terms of the glossary', () => {
  const titles = filesOf(['test/**/*.test.{ts,tsx}']).flatMap(({ file, text }) => titlesOf(file, text).map((title) => ({ file, title })))
  expect(titles.length).toBeGreaterThan(4_000)
  const wrong = titles.filter(({ title }) => new RegExp(NO_SUBJECT.source, 'i').test(title) || HOUSE.test(title))
  expect(wrong.map(({ file, title }) => `${file}: ${title}`)).toEqual([])
})

it('the search finds such sentences, words and titles', () => {
  const found = sentencesOf(
    'a.ts',
    '/** Good. What of it counts. */\nconst a = 1 // One that is `former`\n\n// the for\n// mer one; the\n// former one',
  )
  expect(found).toEqual(['Good.', 'What of it counts.', 'One that is ``', 'the for mer one;', 'the former one'])
  expect(found.map((sentence) => NO_SUBJECT.test(sentence) || HOUSE.test(sentence))).toEqual([false, true, true, false, true])
  const tests = `describe('[A-1] a', () => { it('B-2, C-3: whose', () => {}); it.each([])(\`[D-4] \${x} is told\`, () => {}) })`
  expect(titlesOf('a.test.ts', tests)).toEqual(['a', 'whose', '… is told'])
})
