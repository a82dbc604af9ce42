import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

// The labels that the pictures of docs/console.md show, as `npm run pictures` has found them. A label is a text of the page that a source of
// the page contains, so data of the pictured plane is no label.

const CONSOLE = join(import.meta.dirname, '../../../../src/console')
const ROUTER = readFileSync(join(CONSOLE, 'app/router.tsx'), 'utf8')
/** Frame of every page, with the menu and the sign-in form. */
const SHELL = 'shell/shell.tsx'
/** File of the labels, beside the pictures. */
export const LABELS_FILE = 'labels.txt'

export interface Pictured {
  name: string
  /** Route of the shown page. */
  route: string
  labels: readonly string[]
}

/** Text of the labels file: a block per picture, with its name and route in the first line. */
export function writeLabels(pictures: readonly Pictured[]): string {
  return `${pictures.map(({ name, route, labels }) => [`${name} ${route}`, ...labels].join('\n')).join('\n\n')}\n`
}

/** Inverse of `writeLabels`. */
export function readLabels(text: string): Pictured[] {
  return text
    .trimEnd()
    .split('\n\n')
    .map((block) => {
      const [head = '', ...labels] = block.split('\n')
      const [name = '', route = ''] = head.split(' ')
      return { name, route, labels }
    })
}

/** Labels that a picture shows and the sources of its page no longer contain, each after the name of the picture. */
export function outdatedLabels(pictures: readonly Pictured[], textsOf: (route: string) => ReadonlySet<string>): string[] {
  return pictures.flatMap(({ name, route, labels }) => {
    const texts = textsOf(route)
    return labels.filter((label) => !texts.has(label)).map((label) => `${name}: ${label}`)
  })
}

/** Texts in the sources of the page at a route: those of its module, of the shell, and of all console files that these import. */
export function sourceTextsOf(route: string): Set<string> {
  const entry = ROUTER.split('\n').find((line) => line.includes(`page('${route}',`))
  const module = /import\('\.\.\/([^']+)'\)/.exec(entry ?? '')?.[1]
  const files = new Set(module === undefined ? [SHELL] : [SHELL, module])
  // A set also visits what is added while it is visited.
  for (const file of files) for (const imported of sourceOf(file).imports) files.add(imported)
  return new Set([...files].flatMap((file) => [...sourceOf(file).texts]))
}

interface Source {
  /** Imported files of the console. */
  imports: string[]
  texts: Set<string>
}

interface Node {
  type: string
  [member: string]: unknown
}

const sources = new Map<string, Source>()

function sourceOf(file: string): Source {
  const known = sources.get(file)
  if (known !== undefined) return known
  const source: Source = { imports: [], texts: new Set() }
  const { program } = parseSync(file, readFileSync(join(CONSOLE, file), 'utf8'))
  visit(program, (node) => read(node, file, source))
  sources.set(file, source)
  return source
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, see)
  else if (typeof value === 'object' && value !== null) {
    if ('type' in value) see(value as Node)
    for (const member of Object.values(value)) visit(member, see)
  }
}

function read(node: Node, file: string, { imports, texts }: Source): void {
  const from = (node.source as { value?: unknown } | null | undefined)?.value
  if (typeof from === 'string' && from.startsWith('.')) {
    const path = join(file, '..', from).replaceAll('\\', '/')
    if (!path.startsWith('..') && /\.tsx?$/.test(path)) imports.push(path)
  }
  if (typeof node.value !== 'string') return
  const text = node.value.replaceAll(/\s+/g, ' ').trim()
  // A text begins with a capital letter or has several words: single lower-case words and states are also data.
  const isText = node.type === 'JSXText' || (node.type === 'Literal' && /[a-z]/.test(text) && /^[A-Z]|\S \S/.test(text))
  if (isText && /[A-Za-z]{2}/.test(text)) texts.add(text)
}
