import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, it } from '../support/unit.ts'

// Names of files and exported symbols use the terms of docs/glossary.md, as texts do (plain-words.test.ts).

const ROOT = resolve(import.meta.dirname, '../..')
const FILES = ['{src,durable-objects,bench,scripts,test}/**/*.{ts,tsx}']
/** Words that the glossary replaces, as parts of a name. */
const HOUSE = new Set(
  (
    'anybody asker biography door doors entrance face faces foretell foretells forget forgets forgetting forgotten former formerly heir heirs learn learned learns ' +
    'look looked looking looks manner manners news nobody somebody stake stakes stranger strangers tell telling tells told trial trials ' +
    'turnstile untold verdicts whoever whom wish wished wisher wishes witness word words'
  ).split(' '),
)
/** Names that use such a word in its common meaning, each with its reason. */
const COMMON: Readonly<Record<string, string>> = {
  lookUpFor: 'a lookup',
  lookAlikesOf: 'letters that look alike',
  'look-alikes': 'letters that look alike',
  isReservedWord: 'reserved words of a path',
  RESERVED_WORDS: 'reserved words of a path',
  'reserved-words': 'reserved words of a path',
  splitWords: 'words of a shell',
  'plain-words': 'the test of words',
}

/** The words of a name in camelCase, PascalCase, CONSTANT_CASE or kebab-case. */
const textOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
const isHouse = (name: string): boolean => COMMON[name] === undefined && textOf(name).some((word) => HOUSE.has(word))

/** The names that a source exports by a declaration. */
function exportedNames(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (?!\{)(\w+)/gm,
  )
  return [...declared].map(([, name = '']) => name)
}

it('names of files and folders use the terms of the glossary', () => {
  const parts = globSync(FILES, { cwd: ROOT, exclude: ['**/node_modules/**'] }).flatMap((file) => {
    const [name = ''] = basename(file).split('.')
    return [...file.split('/').slice(0, -1), name].filter(isHouse).map((part) => `${file}: ${part}`)
  })
  expect(parts).toEqual([])
})

it('exported names use the terms of the glossary', () => {
  const files = globSync(FILES, { cwd: ROOT, exclude: ['**/node_modules/**'] })
  expect(files.length).toBeGreaterThan(1_000)
  const names = files.flatMap((file) => exportedNames(readFileSync(join(ROOT, file), 'utf8')).map((name) => ({ file, name })))
  expect(names.filter(({ name }) => isHouse(name)).map(({ file, name }) => `${file}: ${name}`)).toEqual([])
  // An exception that no name needs is removed.
  const needed = new Set([...names.map(({ name }) => name), ...files.map((file) => basename(file).split('.')[0])])
  expect(Object.keys(COMMON).filter((name) => !needed.has(name))).toEqual([])
})

it('the search finds such names', () => {
  expect(exportedNames('export async function tellAll() {}\nexport type Wish = string\nconst look = 1')).toEqual(['tellAll', 'Wish'])
  expect(['tellAll', 'ALL_FORMER_ROWS', 'give-way', 'front-door', 'lookUpFor', 'HTTPDoor', 'retold'].map(isHouse)).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
    false,
  ])
})
