// Runs in Node: finds every place of the sources that makes a statement, and instruments it in the tests' build.
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseSync } from 'vite'

/** A function that makes statements. */
export interface Site {
  /** Its file and its name: `src/db/pods/pods.ts insertPod`. */
  name: string
  /** Number of places in it that make a statement. */
  places: number
}

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** A place that makes a statement, as a range of the source. */
interface Place {
  kind: 'builder' | 'exec' | 'client'
  of: string
  start: number
  end: number
}

const SOURCES = ['src/db/**/*.ts', 'durable-objects/**/*.ts']
/** Methods that begin a drizzle statement. */
const BEGINNINGS = new Set(['select', 'selectDistinct', 'insert', 'update', 'delete', 'all', 'get', 'run', 'values', '$count'])
/** Methods that end one: the statement is before them. */
const ENDS = new Set(['get', 'all', 'run', 'then', 'catch', 'finally', 'execute', 'prepare', 'as', 'toSQL', 'getSQL'])
/** Receivers that are databases; stores and sets have methods of the same names. */
const DATABASE = /^(db|this\.db|tx|records|database|this\.deps\.db|with\w*|.*\.with\([\s\S]*\))$/
const SQL = /(^|\.)sql$/

/** Every function of the sources that makes statements. */
export function sitesOf(root: string): Site[] {
  return SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted()
    .flatMap((file) => sitesIn(placesOf(file, readFileSync(join(root, file), 'utf8'))))
}

/** The sites of a file's places. */
function sitesIn(places: readonly Place[]): Site[] {
  const making = places.filter(({ kind }) => kind !== 'client')
  return [...Map.groupBy(making, ({ of }) => of)].map(([name, own]) => ({ name, places: own.length }))
}

/** The instrumented source, which reports each statement that it makes to the recorder of test/support/plans/record.ts. */
export function watched(root: string, path: string, source: string): string {
  const file = relative(root, path).replaceAll('\\', '/')
  if (!/^(src\/db|durable-objects)\//.test(file)) return source
  const numbers = new Map<string, number>()
  const edits = placesOf(file, source).flatMap(({ kind, of, start, end }) => {
    if (kind === 'client') return [edit(start, 'globalThis.statementPlans.binding('), edit(end, ')')]
    const number = (numbers.get(of) ?? 0) + 1
    numbers.set(of, number)
    return [edit(start, `globalThis.statementPlans.${kind}(${JSON.stringify(of)}, ${number}, `), edit(end, ')')]
  })
  let result = source
  // From the end to the start, so that positions stay valid; a closing edit precedes an opening one at the same position.
  for (const { at, text } of edits.toSorted((a, b) => b.at - a.at || (a.text === ')' ? 1 : -1)))
    result = result.slice(0, at) + text + result.slice(at)
  return result
}

const edit = (at: number, text: string) => ({ at, text })

/** The places of a source, in their order. */
function placesOf(file: string, source: string): Place[] {
  const { program } = parseSync(file, source, { lang: 'ts' })
  const places: Place[] = []
  const add = (kind: Place['kind'], inside: string, { start, end }: { start: number; end: number }) =>
    places.push({ kind, of: `${file} ${inside}`, start, end })
  const visit = (node: Node, parents: readonly Node[]): void => {
    const callee = node.type === 'CallExpression' ? (node.callee as Node) : undefined
    const inside = nameOf(parents)
    if (callee?.type === 'Identifier' && callee.name === 'drizzle') {
      const [binding] = node.arguments as Node[]
      if (binding) add('client', inside, binding)
    }
    if (callee?.type === 'MemberExpression') {
      const name = String((callee.property as Node).name)
      const receiver = callee.object as Node
      const text = source.slice(receiver.start, receiver.end)
      if (BEGINNINGS.has(name) && DATABASE.test(text)) add('builder', inside, chainOf(node, parents))
      else if (name === 'exec' && SQL.test(text)) add('exec', inside, receiver)
    }
    for (const child of childrenOf(node)) visit(child, [...parents, node])
  }
  visit(program as unknown as Node, [])
  return places.filter(({ kind }) => kind !== 'client' || file === 'src/db/client.ts')
}

/** The calls that follow a beginning, as far as they build the statement. */
function chainOf(call: Node, parents: readonly Node[]): Node {
  let whole = call
  for (let i = parents.length - 1; i > 0; i -= 2) {
    const [member, next] = [parents[i], parents[i - 1]]
    if (member?.type !== 'MemberExpression' || member.object !== whole || next?.type !== 'CallExpression' || next.callee !== member) break
    if (ENDS.has(String((member.property as Node).name))) break
    whole = next
  }
  return whole
}

/** The outermost function around a node, by its name in the file. */
function nameOf(parents: readonly Node[]): string {
  const of = (node: Node): string | undefined => {
    const name = (node.id ?? node.key) as Node | null | undefined
    return name?.type === 'Identifier' ? String(name.name) : undefined
  }
  const held = parents.filter(({ type }) => /^(ClassDeclaration|MethodDefinition|FunctionDeclaration|VariableDeclarator)$/.test(type))
  const [first, second] = held
  if (!first) return '(module)'
  return first.type === 'ClassDeclaration' ? [of(first), second && of(second)].filter(Boolean).join('.') : (of(first) ?? '(module)')
}

function childrenOf(node: Node): Node[] {
  return Object.entries(node)
    .filter(([key]) => key !== 'parent')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]) as unknown[])
    .filter((value): value is Node => typeof value === 'object' && value !== null && typeof (value as Node).type === 'string')
}
