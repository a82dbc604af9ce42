import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'

/** A fenced block of a document that a reader may run. */
export interface CommandBlock {
  /** The place as a reader finds it: `docs/guide.md:12`. */
  place: string
  language: 'sh' | 'js' | 'python'
  text: string
  /** A program that continues to run, such as an agent; its output is waited for, and it stays until the document ends. */
  background: boolean
  /** The reason why it cannot be run here; undefined: it is run. */
  notRun: string | undefined
  /** The expected output, from the block directly after it. */
  printed: string | undefined
}

interface Fence {
  line: number
  language: string
  info: string
  text: string
  /** Whether only empty lines are between it and the fence before. */
  follows: boolean
}

const RUN_LANGUAGES = ['sh', 'js', 'python'] as const
const PRINTED_LANGUAGE = 'text'
const FENCE = /^```([^`\s]*) ?([^`]*)$/
const NOT_RUN = /^not run: (.+)$/
const BACKGROUND = 'background'

/** The commands of a document. Throws where a block has an unknown annotation or names no language. */
export function readCommandBlocks(document: string): CommandBlock[] {
  const fences = readFences(readFileSync(join(PROJECT_ROOT, document), 'utf8'))
  return fences.flatMap((fence, index) => {
    const place = `${document}:${fence.line}`
    if (fence.language === '') throw new Error(`${place}: the block names no language`)
    const language = RUN_LANGUAGES.find((known) => known === fence.language)
    if (language === undefined) return []
    const notRun = NOT_RUN.exec(fence.info)?.[1]
    const background = fence.info === BACKGROUND
    if (fence.info !== '' && notRun === undefined && !background) throw new Error(`${place}: what does '${fence.info}' mean?`)
    const next = fences[index + 1]
    const printed = next?.follows && next.language === PRINTED_LANGUAGE ? next.text : undefined
    return [{ place, language, text: fence.text, background, notRun, printed }]
  })
}

function readFences(markdown: string): Fence[] {
  const fences: Fence[] = []
  let open: Fence | undefined
  let follows = false
  for (const [index, line] of markdown.split('\n').entries()) {
    const [marks, language = '', info = ''] = FENCE.exec(line) ?? []
    if (open !== undefined) {
      if (line !== '```') open.text += `${line}\n`
      else {
        fences.push(open)
        open = undefined
        follows = true
      }
    } else if (marks !== undefined) open = { line: index + 1, language, info, text: '', follows }
    else if (line !== '') follows = false
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block does not end`)
  return fences
}

/**
 * The pattern of a documented output: `…` matches anything, `<name>` one value, which `valuesOf` finds, and any white space matches any,
 * so that a long answer may be broken into lines.
 */
export function printedPattern(printed: string): RegExp {
  const named = new Set<string>()
  const pattern = printed.trim().replace(/<([a-z ]+)>|…|\s+|[\\^$.*+?()[\]{}|/]/g, (found, name: string | undefined) => {
    if (found === '…') return '[\\s\\S]*?'
    if (name === undefined) return /^\s/.test(found) ? '\\s*' : `\\${found}`
    const group = name.replaceAll(' ', '_')
    if (named.has(group)) return `\\k<${group}>`
    named.add(group)
    return `(?<${group}>[^"\\s]+)`
  })
  return new RegExp(`^\\s*${pattern}\\s*$`)
}

/** The values of the placeholders, by placeholder. */
export function valuesOf(printed: string, output: string): Map<string, string> {
  const groups = printedPattern(printed).exec(output)?.groups ?? {}
  return new Map(Object.entries(groups).map(([group, value]) => [group.replaceAll('_', ' '), value]))
}
