import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nodesOf, type Syntax, type SyntaxNode, syntaxOf } from '../../support/texts/syntax.ts'
import { expect, it } from '../../support/unit.ts'

// The rules of docs/glossary.md for doc comments.

const ROOT = resolve(import.meta.dirname, '../../..')

/** A declaration with its doc comment. */
interface Declared {
  name: string
  node: SyntaxNode
  doc: string | undefined
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
const isFunction = (node: SyntaxNode | null | undefined) => node !== null && node !== undefined && FUNCTIONS.includes(node.type)
const child = (node: SyntaxNode, name: string) => node[name] as SyntaxNode | null | undefined
const children = (node: SyntaxNode, name: string) => (node[name] ?? []) as SyntaxNode[]

/** The doc comment directly before a place; line comments may stand between. */
function docBefore({ comments }: Syntax, source: string, start: number): string | undefined {
  const comment = comments.findLast(({ type, end }) => type === 'Block' && end <= start)
  if (!comment?.value.startsWith('*')) return undefined
  return /^([ \t]*\n[ \t]*\/\/.*)*[ \t]*\n?[ \t]*$/.test(source.slice(comment.end, start)) ? comment.value : undefined
}

/** The exported functions and classes of a source, and the public methods of these classes. */
function exportedOf(source: string, syntax: Syntax): { exported: Declared[]; methods: Declared[] } {
  const found = { exported: [] as Declared[], methods: [] as Declared[] }
  for (const statement of children(syntax.program, 'body')) {
    const declaration = statement.type.startsWith('Export') ? child(statement, 'declaration') : undefined
    if (!declaration) continue
    const doc = docBefore(syntax, source, statement.start)
    const variables = children(declaration, 'declarations').filter((variable) => isFunction(child(variable, 'init')))
    const callable = isFunction(declaration) || declaration.type === 'ClassDeclaration' ? [declaration] : variables
    for (const node of callable) found.exported.push({ name: String(child(node, 'id')?.name), node, doc })
    if (declaration.type !== 'ClassDeclaration') continue
    for (const member of children(child(declaration, 'body') as SyntaxNode, 'body')) {
      const isPublic = member.type === 'MethodDefinition' && member.accessibility !== 'private' && member.kind !== 'constructor'
      if (!isPublic) continue
      const name = `${String(child(declaration, 'id')?.name)}.${String(child(member, 'key')?.name)}`
      found.methods.push({ name, node: member, doc: docBefore(syntax, source, member.start) })
    }
  }
  return found
}

/** Dependencies and settings of one function or class, whose own comment describes them. */
const OF_ANOTHER = /(Deps|Options)$/
/** Types that are derived from a schema, a table or a constant, which is documented instead. */
const DERIVED = ['TSTypeReference', 'TSTypeQuery', 'TSIndexedAccessType', 'TSTypeOperator']

/** The exported types of a source that are declared in full. */
function typesOf(source: string, syntax: Syntax): Declared[] {
  return children(syntax.program, 'body').flatMap((statement) => {
    const node = statement.type.startsWith('Export') ? child(statement, 'declaration') : undefined
    if (node?.type !== 'TSInterfaceDeclaration' && node?.type !== 'TSTypeAliasDeclaration') return []
    const name = String(child(node, 'id')?.name)
    if (OF_ANOTHER.test(name) || DERIVED.includes(child(node, 'typeAnnotation')?.type ?? '')) return []
    return [{ name, node, doc: docBefore(syntax, source, statement.start) }]
  })
}

/** Whether a call of the function may throw an error that is made in it. Errors of its callbacks, caught and repeated ones do not count. */
function throws(node: SyntaxNode, source: string): boolean {
  const body = node.type === 'MethodDefinition' ? child(node, 'value') : node.type === 'VariableDeclarator' ? child(node, 'init') : node
  const visit = (inside: SyntaxNode): boolean => {
    if (isFunction(inside) || inside.type === 'ClassDeclaration') return false
    if (inside.type === 'TryStatement' && child(inside, 'handler')) return visitAll([child(inside, 'handler'), child(inside, 'finalizer')])
    const text = source.slice(inside.start, inside.end)
    if (inside.type === 'ThrowStatement') return /^throw (new |\w+\()/.test(text) && !text.includes('satisfies never')
    return visitAll(Object.values(inside).flat())
  }
  const visitAll = (all: readonly unknown[]): boolean =>
    all.some((one) => typeof one === 'object' && one !== null && 'type' in one && visit(one as SyntaxNode))
  return body ? visitAll(Object.values(body).flat()) : false
}
const NAMES_ERRORS = /throw|refus|reject|error|fail|\b[45]\d\d\b/i

/** Quantities that have a unit. */
const QUANTITY = /(timeout|delay|interval|ttl|duration|pause|grace|patience|lifetime|memory|disk|price|cost|amount|capacity|window)$/i
const UNIT =
  /milliseconds|\bms\b|seconds|\bs\b|minutes|hours|days|bytes|\b[KMG]i?B\b|characters|percent|USD|nanos|micros|prices?\b|number of|jobs|entries/i

/** The numbers of interfaces and classes that have a unit neither in their name nor in a comment of theirs or around them. */
function unitless(source: string, syntax: Syntax): string[] {
  return nodesOf(syntax.program).flatMap((node) => {
    if (node.type !== 'TSPropertySignature' && node.type !== 'PropertyDefinition') return []
    const [key, type] = [child(node, 'key'), child(node, 'typeAnnotation')]
    const name = String(key?.name)
    const isNumber = type && /^:\s*number\b/.test(source.slice(type.start, type.end))
    if (!isNumber || !QUANTITY.test(name)) return []
    const around = nodesOf(syntax.program).filter(({ start, end }) => start <= node.start && node.end <= end)
    const docs = around.map(({ start }) => docBefore(syntax, source, start))
    return docs.some((doc) => doc !== undefined && UNIT.test(doc)) ? [] : [name]
  })
}

const sources = globSync('{src,durable-objects}/**/*.{ts,tsx}', { cwd: ROOT }).map((file) => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const syntax = syntaxOf(file, source)
  return { file, source, syntax, ...exportedOf(source, syntax) }
})

it('exported functions and classes have a doc comment', () => {
  expect(sources.flatMap(({ exported }) => exported).length).toBeGreaterThan(2_000)
  const bare = sources.flatMap(({ file, exported }) =>
    exported.filter(({ doc }) => doc === undefined).map(({ name }) => `${file}: ${name}`),
  )
  expect(bare).toEqual([])
})

it('exported types have a doc comment', () => {
  const bare = sources.flatMap(({ file, source, syntax }) =>
    typesOf(source, syntax)
      .filter(({ doc }) => doc === undefined)
      .map(({ name }) => `${file}: ${name}`),
  )
  expect(bare).toEqual([])
})

it('functions and methods that throw name their errors', () => {
  const silent = sources.flatMap(({ file, source, exported, methods }) =>
    [...exported, ...methods]
      .filter(({ node, doc }) => node.type !== 'ClassDeclaration' && throws(node, source) && !NAMES_ERRORS.test(doc ?? ''))
      .map(({ name }) => `${file}: ${name}`),
  )
  expect(silent).toEqual([])
})

it('quantities have a unit in their name or comment', () => {
  const bare = sources.flatMap(({ file, source, syntax }) => unitless(source, syntax).map((name) => `${file}: ${name}`))
  expect(bare).toEqual([])
})

it('the search finds such declarations', () => {
  const source = `/** A. */
export function a(): void { throw new Error('a') }
export const b = (): void => { try { throw new Error('b') } catch {} }
/** C. Milliseconds. */
export class C { delay: number; f(): void { if (this.delay) throw problem() } }
interface D { delay: number; delayMs: number; /** Seconds. */ ttl?: number }`
  const { exported, methods } = exportedOf(source, syntaxOf('a.ts', source))
  expect(exported.map(({ name, node, doc }) => [name, doc !== undefined, throws(node, source)])).toEqual([
    ['a', true, true],
    ['b', false, false],
    ['C', true, false],
  ])
  expect(
    typesOf(
      'export type T = 1 | 2\nexport type U = T\nexport interface VDeps {}',
      syntaxOf('b.ts', 'export type T = 1 | 2\nexport type U = T\nexport interface VDeps {}'),
    ).map(({ name }) => name),
  ).toEqual(['T'])
  expect(methods.map(({ name, node }) => [name, throws(node, source)])).toEqual([['C.f', true]])
  expect(unitless(source, syntaxOf('a.ts', source))).toEqual(['delay'])
})
