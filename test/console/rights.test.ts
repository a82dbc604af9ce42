import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NAVIGATION } from '../../src/console/shell/navigation.ts'
import { SCOPES } from '../../src/domain/access.ts'
import { filesOf } from '../support/texts/printed-commands.ts'
import { nodesOf, type SyntaxNode, syntaxOf, textOf } from '../support/texts/syntax.ts'

// The console asks for the scope that the routes of its calls check.

interface Operation {
  scope: string
  isChange: boolean
}

/** The operations of the API with the scope that each route documents. */
function operations(): Map<string, Operation> {
  type Documented = { operationId?: string; 'x-scope'?: string }
  const { paths } = JSON.parse(readFileSync('docs/openapi-v2.json', 'utf8')) as { paths: Record<string, Record<string, Documented>> }
  const all = Object.values(paths).flatMap((methods) => Object.entries(methods))
  return new Map(
    all.map(([method, { operationId = '', 'x-scope': scope = 'none' }]) => [operationId, { scope, isChange: method !== 'get' }]),
  )
}

interface Source {
  /** Scopes that the file asks for. */
  asked: string[]
  calls: string[]
  imports: string[]
}

function readSource(file: string): Source {
  const source: Source = { asked: [], calls: [], imports: [] }
  for (const node of nodesOf(syntaxOf(file, readFileSync(file, 'utf8')).program)) {
    if (node.type === 'ImportDeclaration' || node.type === 'ImportExpression') {
      const from = textOf(node.source as SyntaxNode) ?? ''
      if (from.startsWith('.')) source.imports.push(normalize(join(dirname(file), from)))
    }
    if (node.type !== 'CallExpression') continue
    const callee = node.callee as SyntaxNode & { name?: string; property?: { name?: string } }
    const [first] = node.arguments as SyntaxNode[]
    if (callee.name === 'may' && first) source.asked.push(textOf(first) ?? '')
    if (callee.type === 'MemberExpression' && callee.property?.name) source.calls.push(callee.property.name)
  }
  return source
}

const OPERATIONS = operations()
const SOURCES = new Map(filesOf('src/console/**/*.{ts,tsx}').map((file) => [file, readSource(file)]))

/** A file and those that it imports, except what all pages share. */
function withImports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const next of SOURCES.get(file)?.imports ?? []) if (next.includes('/pages/')) withImports(next, seen)
  return seen
}

const scopesOf = (files: Iterable<string>) =>
  new Set([...files].flatMap((one) => SOURCES.get(one)?.calls ?? []).map((call) => OPERATIONS.get(call)?.scope))

/** Files that ask for the scope of a call which is no operation by name, and what it is. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/console/pages/endpoints/overview.tsx serverless:write': 'an option is a call that the plane names: a change of the endpoint',
  'src/console/pages/jobs/job/job-explanation.tsx serverless:write': 'an option is a call that the plane names: a change of the endpoint',
  'src/console/pages/endpoints/try/chat.tsx jobs:write': 'the OpenAI API, which is read as a stream',
  'src/console/pages/pods/pod/terminal-tab.tsx pods:write': 'a WebSocket',
  'src/console/pages/usage/stop-spend.tsx serverless:write': 'a stop of endpoints needs it besides the scope of the route',
  'src/console/pages/usage/stops.tsx serverless:write': 'an undo with endpoints needs it besides the scope of the route',
}

/** The call without whose answer a page of the navigation shows nothing. */
const FIRST_CALLS: Readonly<Record<string, string>> = {
  Pods: 'listPods',
  Endpoints: 'listEndpoints',
  Jobs: 'listEndpoints',
  Clusters: 'listClusters',
  Logs: 'listPods',
  Volumes: 'listNetworkVolumes',
  Templates: 'listTemplates',
  Registries: 'listRegistries',
  Secrets: 'listSecrets',
  'SSH keys': 'getSshKeys',
  Team: 'listOrganizations',
  Webhooks: 'listWebhookDeliveries',
}

describe('[UI-8, UI-83] the console asks for the scope that the route checks', () => {
  it('has a scope for each call', () => {
    expect(OPERATIONS.size).toBeGreaterThan(100)
    expect([...SOURCES.values()].flatMap(({ asked }) => asked).filter((scope) => !(SCOPES as readonly string[]).includes(scope))).toEqual(
      [],
    )
  })

  it('leads to a page only where it can be read', () => {
    const items = NAVIGATION.flatMap((group) => group.items)
    const needed = items.map(({ title }) => [title, OPERATIONS.get(FIRST_CALLS[title] ?? '')?.scope])
    expect(items.map(({ title, needs }) => [title, needs])).toEqual(needed)
    // The pages that have something for every role.
    expect(items.filter(({ needs }) => needs === undefined).map(({ title }) => title)).toEqual(['Home', 'Usage', 'API keys', 'Audit'])
  })

  it('and for no other: what the plane allows is not refused', () => {
    const others = [...SOURCES].flatMap(([file, { asked }]) => {
      const needed = scopesOf(withImports(file))
      return asked.filter((scope) => !needed.has(scope) && EXCEPTIONS[`${file} ${scope}`] === undefined).map((scope) => `${file} ${scope}`)
    })
    expect(others).toEqual([])
  })

  it('before each change: what the plane refuses is not offered', () => {
    const parents = (file: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(file)) return seen
      seen.add(file)
      for (const [other, { imports }] of SOURCES) if (imports.includes(file)) parents(other, seen)
      return seen
    }
    const unasked = [...SOURCES].flatMap(([file, { calls }]) => {
      const asked = new Set([...parents(file)].flatMap((one) => SOURCES.get(one)?.asked ?? []))
      const changes = calls.flatMap((call) =>
        OPERATIONS.get(call)?.isChange ? [[call, OPERATIONS.get(call)?.scope ?? 'none'] as const] : [],
      )
      return changes.filter(([, scope]) => scope !== 'none' && !asked.has(scope)).map(([call, scope]) => `${file} ${call} ${scope}`)
    })
    expect(unasked).toEqual([])
  })
})
