import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from '../../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const PROSE_COLUMNS = 110
/** First segments of the paths that are paths of this repository. */
const FOLDERS = ['.ci', 'bench', 'docs', 'durable-objects', 'examples', 'migrations', 'scripts', 'src', 'test']
/** The documents about the present state. Decision records are left out: files that they name may have been removed since. */
const documents = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'docs/architecture'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
].map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
const fileNames = new Set(
  FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.includes('node_modules'))
      .map((path) => basename(path)),
  ),
)

/** Prose without fenced blocks. */
const withoutFences = (text: string) => text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
const inBackticks = (text: string) => [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

/** Whether a path of the repository exists; `<name>` and `*` match any name. */
function isThere(path: string): boolean {
  const parts = path.replace(/\/$/, '').split('/')
  const firstOpen = parts.findIndex((part) => /[<*]/.test(part))
  if (firstOpen < 0) return existsSync(join(ROOT, ...parts))
  const folder = join(ROOT, ...parts.slice(0, firstOpen))
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return false
  const form = new RegExp(`^${(parts[firstOpen] ?? '').replaceAll('.', '\\.').replaceAll(/<[^>]*>|\*/g, '[^/]+')}$`)
  const names = readdirSync(folder).filter((name) => form.test(name))
  return names.some((name) => isThere([...parts.slice(0, firstOpen), name, ...parts.slice(firstOpen + 1)].join('/')))
}

describe.each(documents)('$file', ({ file, text }) => {
  it('names existing paths', () => {
    const paths = inBackticks(text).filter(
      (code) => FOLDERS.includes(code.split('/')[0] ?? '') && /^[\w./<>*-]+$/.test(code) && code.includes('/'),
    )
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('names files that exist in some folder', () => {
    const names = inBackticks(text).filter((code) => /^[\w-]+(\/[\w-]+)*\.(ts|sh|py)$/.test(code))
    expect(names.filter((name) => !fileNames.has(basename(name)))).toEqual([])
  })

  it('links to existing files', () => {
    const links = [...withoutFences(text).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
    const local = links.filter((target) => !/^[a-z]+:/.test(target))
    expect(local.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([])
  })

  it('has diagrams that are drawn: a semicolon ends a statement of theirs, also in the middle of a message', () => {
    const diagrams = [...text.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
    expect(diagrams.flatMap((code) => code.split('\n').filter((line) => line.includes(';')))).toEqual([])
  })
})

describe.each(documents)('$file', ({ text }) => {
  it(`is wrapped at ${PROSE_COLUMNS} columns, tables and fences left out`, () => {
    const lines = withoutFences(text).split('\n')
    expect(lines.filter((line) => line.length > PROSE_COLUMNS && !/^\s*\|/.test(line))).toEqual([])
  })
})

it('has every room in the table of rooms', () => {
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`src/${entry.name}`] : [],
  )
  const table = readFileSync(join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8').match(/^\| Room \| Holds \|\n(?:\|.*\n)+/m)?.[0] ?? ''
  const listed = inBackticks(
    table
      .split('\n')
      .map((row) => row.split(' | ')[0])
      .join(' '),
  )
  expect([...rooms, 'durable-objects'].filter((room) => !listed.includes(room))).toEqual([])
})

it('has every path of the host protocol in its table, and every folder of the endpoint object in another', () => {
  const architecture = documents.flatMap(({ file, text }) => (file.startsWith('docs/architecture/') ? [text] : [])).join('\n')
  const protocol = architecture.match(/^\| Path under `\/host\/v1` \|.*\n(?:\|.*\n)+/m)?.[0] ?? ''
  const listed = [...protocol.matchAll(/^\| `(\w+ [^`]+)`/gm)].map(([, path = '']) => path.replaceAll(/\{\w+\}/g, '{}'))
  const routes = [...readFileSync(join(ROOT, 'src/http/host-api.ts'), 'utf8').matchAll(/app\.(get|post)\('([^']+)'/g)]
  const served = routes.map(([, method = '', path = '']) => `${method.toUpperCase()} ${path.replaceAll(/:\w+/g, '{}')}`)
  expect(listed.toSorted()).toEqual(served.toSorted())
  const folders = readdirSync(join(ROOT, 'durable-objects/endpoint'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).filter((name) => !architecture.includes(`| \`durable-objects/endpoint/${name}\` |`))).toEqual([])
})

it.each([
  ['docs/benchmarks.md', 'bench/run.ts', 'SECTIONS'],
  ['bench/reliability/README.md', 'bench/reliability/run.ts', 'ROWS'],
])('%s has a row for everything that %s measures', (document, program, table) => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const [, members = ''] = read(program).match(new RegExp(`^const ${table}\\b[^{]*= \\{\\n([\\s\\S]*?)^\\}`, 'm')) ?? []
  const measured = [...members.matchAll(/^ {2}'?([\w-]+)'?: measure/gm)].map(([, name = '']) => name)
  const received = new Set([...read(document).matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name))
  expect(measured.length).toBeGreaterThan(10)
  expect([...received].toSorted()).toEqual(measured.toSorted())
})

it('finds the documents', () => {
  expect(documents.map(({ file }) => relative('docs', file)).length).toBeGreaterThan(4)
})
