import { parseSync } from 'vite'

// Runs in Node: reads the syntax of a source for tests of texts, names and comments.

/** A node of a syntax tree, with its place in the source. */
export interface SyntaxNode {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export interface Syntax {
  program: SyntaxNode
  comments: readonly { type: 'Line' | 'Block'; value: string; start: number; end: number }[]
}

/** Returns the syntax of a source. `file` is its name, which decides whether it may contain JSX. */
export function syntaxOf(file: string, source: string): Syntax {
  const { program, comments } = parseSync(file, source, { lang: file.endsWith('x') ? 'tsx' : 'ts' })
  return { program: program as unknown as SyntaxNode, comments }
}

const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null && 'type' in value && 'start' in value

/** Returns a node and all nodes below it, in no order. */
export function nodesOf(root: SyntaxNode): SyntaxNode[] {
  const nodes = [root]
  // The list grows while it is walked.
  for (const node of nodes) for (const child of Object.values(node).flat()) if (isNode(child)) nodes.push(child)
  return nodes
}

/** Returns the text of a literal, without the values in a template; undefined for other nodes. */
export function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'JSXText') return String(node.value)
  if (node.type === 'TemplateElement') return (node.value as { raw: string }).raw
  if (node.type === 'TemplateLiteral') return (node.quasis as SyntaxNode[]).map((part) => textOf(part) ?? '').join('…')
  return undefined
}
