import { globSync, readFileSync } from 'node:fs'
import { readCommandBlocks } from '../http/document-blocks.ts'
import { nodesOf, type SyntaxNode, syntaxOf, textOf } from './syntax.ts'

// Finds the command lines that the product prints for people: in its sources, documents and examples.

export interface PrintedCommand {
  /** Place as a reader finds it. */
  place: string
  program: 'podplane' | 'podplane-agent' | 'start'
  words: string[]
  /** Whether the words are a whole line. Others stand in a sentence, so that more words may follow the command. */
  isLine: boolean
}

/** How a line names each program. */
const PROGRAMS: readonly (readonly [RegExp, PrintedCommand['program'], string[]])[] = [
  [/^(?:npx )?podplane$/, 'podplane', []],
  [/^podplane-agent$/, 'podplane-agent', []],
  [/^npm run (?:--silent |-s )?admin --$/, 'podplane', ['admin']],
  [/^npm run (?:--silent |-s )?agent --$/, 'podplane-agent', []],
  [/^npm start --$/, 'start', []],
]

/** The commands in the strings of a source. Values of a template are the word `…`. */
export function commandsOfSource(file: string): PrintedCommand[] {
  const source = readFileSync(file, 'utf8')
  return nodesOf(syntaxOf(file, source).program).flatMap((node) => {
    const place = `${file}:${source.slice(0, node.start).split('\n').length}`
    return [
      ...linesOf(node).flatMap((text) => commandsOfLine(place, text)),
      ...commandsAfterPrompt(place, textOf(node) ?? ''),
      ...commandsOfSentence(place, textOf(node) ?? ''),
    ]
  })
}

/** The texts of a node that are whole lines: `command` of a call or an empty list, and `<Command text>`. */
function linesOf(node: SyntaxNode): string[] {
  const name = (of: unknown) => (of as { name?: string } | undefined)?.name
  const value = (of: unknown) => {
    const inner = (of as SyntaxNode | undefined)?.type === 'JSXExpressionContainer' ? (of as SyntaxNode).expression : of
    const text = inner ? textOf(inner as SyntaxNode) : undefined
    return text === undefined ? [] : [text]
  }
  if (node.type === 'Property' && name(node.key) === 'command') return value(node.value).map(withProgram)
  if (node.type === 'JSXAttribute' && name(node.name) === 'command') return value(node.value).map(withProgram)
  if (node.type === 'JSXOpeningElement' && name(node.name) === 'Command')
    return (node.attributes as SyntaxNode[]).filter((one) => name(one.name) === 'text').flatMap((one) => value(one.value))
  return []
}

const withProgram = (line: string) => (/^(?:podplane|npx|npm|cat|ssh|…)/.test(line) ? line : `podplane ${line}`)

/** The commands of a document: its blocks for a shell, and code in its sentences. */
export function commandsOfDocument(document: string): PrintedCommand[] {
  const ofBlocks = readCommandBlocks(document)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ place, text }) => commandsOfLine(place, text))
  const text = readFileSync(document, 'utf8')
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [
    ...ofBlocks,
    ...commandsAfterPrompt(document, text),
    ...[...prose.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => commandsOfSentence(document, code)),
  ]
}

/** The commands of another file, such as a manifest: anywhere in a line. */
export function commandsOfFile(file: string): PrintedCommand[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => commandsOfSentence(`${file}:${index + 1}`, line))
}

/** Files of a pattern, without what tools made. */
export const filesOf = (...patterns: string[]): string[] =>
  globSync(patterns)
    .filter((file) => !file.includes('node_modules'))
    .toSorted()

/** Lines of a shell whose prompt is shown. */
function commandsAfterPrompt(place: string, text: string): PrintedCommand[] {
  return [...text.matchAll(/^ *\$ (.+)$/gm)].flatMap(([, line = '']) => commandsOfLine(place, line))
}

function commandsOfSentence(place: string, text: string): PrintedCommand[] {
  const sentences = text.replaceAll(/^ *\$ .*$/gm, '').split('\n')
  return sentences.flatMap((line) => {
    const found = [
      ...line.matchAll(/(?<![\w/.:@-])(podplane|podplane-agent|npm run (?:--silent )?(?:admin|agent) --) +(?=[a-z_-])([^;|`()\\]*)/g),
    ]
    return found.flatMap(([, name = '', rest = '']) => {
      const words = rest.split(/(?<=[.,:])\s|(?=podplane )/)[0]?.split(/\s+/) ?? []
      const program = name.includes('agent') ? ('podplane-agent' as const) : ('podplane' as const)
      return [{ place, program, words: [...(name.includes('admin') ? ['admin'] : []), ...words].filter(Boolean), isLine: false }]
    })
  })
}

function commandsOfLine(place: string, text: string): PrintedCommand[] {
  return simpleCommands(text).flatMap((given) => {
    const words = given.slice(given.findIndex((word) => !/^(?:[A-Z_]+=.*|sudo|exec|!|if|while|until|time)$/.test(word)))
    const isRepeated = words[0] === 'xargs'
    const line = isRepeated ? [...words.slice(words.findIndex((word, at) => at > 0 && !word.startsWith('-'))), 'placeholder'] : words
    for (const [form, program, before] of PROGRAMS)
      for (let count = 1; count <= Math.min(line.length, 5); count += 1)
        if (form.test(line.slice(0, count).join(' '))) return [{ place, program, words: [...before, ...line.slice(count)], isLine: true }]
    return []
  })
}

/** The words of each command of a text for a shell. A placeholder such as `<pod>` is a word. */
function simpleCommands(text: string): string[][] {
  const inner: string[] = []
  let outer = text.replaceAll(/<[a-z][^<>\n]*>/g, 'placeholder').replaceAll('\\\n', ' ')
  for (let left = ''; left !== outer; ) {
    left = outer
    outer = outer.replaceAll(/\$\(([^()]*)\)/g, (_, command: string) => `value${' '.repeat(0 * inner.push(command))}`)
  }
  const commands: string[][] = [[]]
  for (const [token] of outer.matchAll(/\n|[|;&]+|#.*|(?:\d?[<>]+ ?\S+)|(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s|;&'"])+/g)) {
    if (/^(?:\n|[|;&]+)$/.test(token)) commands.push([])
    else if (!/^(?:#|\d?[<>])/.test(token)) commands.at(-1)?.push(token.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, '$1$2'))
  }
  return [...commands.filter((words) => words.length > 0), ...inner.flatMap(simpleCommands)]
}
