import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { FOR_THE_PLANE, NARROWER, PACKAGES, PLANE, PROGRAMS, PROVERS, READS_THE_CLOCK } from './architecture-tables.ts'
import { describe, expect, it } from './support/unit.ts'

const ROOT = resolve(import.meta.dirname, '..')
const listFiles = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
const source = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const IMPORTS = /^(?:import|export)\s[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm
/** The imports of a file, including type imports: files from the root of the project, packages by name. */
const importsOf = (file: string): string[] =>
  [...source(file).matchAll(IMPORTS)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? ''
    return specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : specifier
  })

const ROOMS = [...PLANE.flat(), ...Object.keys(PROGRAMS)]

const isIn = (path: string, room: string) => path === room || path.startsWith(`${room}/`)
const roomOf = (path: string) => ROOMS.find((room) => isIn(path, room))
const SOURCES = [...listFiles('src'), ...listFiles('durable-objects')]
const GRAPH = new Map(SOURCES.map((file) => [file, importsOf(file)]))

/** The rooms that a room may import beside itself. */
function knownTo(room: string): readonly string[] {
  const named = NARROWER[room] ?? PROGRAMS[room]
  if (named) return named
  const row = PLANE.findIndex((rooms) => rooms.includes(room))
  return PLANE.slice(0, row).flat()
}

/** Files that reach one another through imports, each group sorted (Tarjan). */
function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (file: string): number => {
    order.set(file, order.size)
    lowest.set(file, order.size - 1)
    open.push(file)
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue
      const reached = order.has(target) ? (open.includes(target) ? (order.get(target) ?? 0) : Number.POSITIVE_INFINITY) : visit(target)
      lowest.set(file, Math.min(lowest.get(file) ?? 0, reached))
    }
    const low = lowest.get(file) ?? 0
    if (low !== order.get(file)) return low
    const group = open.splice(open.indexOf(file))
    if (group.length > 1 || graph.get(file)?.includes(file)) circles.push(group.sort())
    return low
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return circles
}

/** The package that a specifier names; none for a part of Node or a path of the project. */
function packageOf(specifier: string): string[] {
  if (specifier.startsWith('node:') || /^(src|durable-objects|migrations|test|docs)\//.test(specifier)) return []
  return [
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  ]
}

/** The folders that a file lies in, from its room downwards. */
function foldersOf(file: string): string[] {
  const room = roomOf(file) ?? ''
  const inside = file.slice(room.length + 1).split('/')
  return inside.map((_, depth) => [room, ...inside.slice(0, depth)].join('/')).filter((folder) => folder !== file)
}

/** The folder or file directly in `folder` that a path belongs to. */
function partOf(path: string, folder: string): string {
  return path.slice(folder.length + 1).split('/')[0] ?? ''
}

/**
 * The lines that wait for a list of unstated length: `Promise.all` of anything but the fixed calls of an array, without a line
 * `// Bounded: <reason>` before it.
 */
function unboundedCalls(text: string): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const call = /\bPromise\.(?:all|allSettled|any|race)\((.*)/.exec(line)
    if (call === null) return []
    const [, first = ''] = call
    const next = lines[at + 1]?.trim() ?? ''
    const isFixed = first.startsWith('[') && !`${first}${first === '[' ? next : ''}`.startsWith('[...') && !first.includes('.map(')
    return isFixed || lines[at - 1]?.trim().startsWith('// Bounded: ') ? [] : [line.trim()]
  })
}

describe('rooms', () => {
  it('every source is in one', () => {
    expect(SOURCES.filter((file) => roomOf(file) === undefined)).toEqual([])
  })

  for (const room of ROOMS) {
    it(`${room} imports only what it may import`, () => {
      const allowed = [room, ...knownTo(room)]
      const wrong = SOURCES.filter((file) => isIn(file, room)).flatMap((file) =>
        (GRAPH.get(file) ?? [])
          .filter((target) => /^(src|durable-objects|test|bench|scripts)\//.test(target) && !allowed.some((known) => isIn(target, known)))
          .map((target) => `${file} → ${target}`),
      )
      expect(wrong).toEqual([])
    })
  }

  it('no files import one another in a circle, not even for types', () => {
    const others = ['test', 'bench', 'scripts'].flatMap(listFiles)
    const graph = new Map([...GRAPH, ...others.map((file) => [file, importsOf(file)] as const)])
    expect(findCircles(graph)).toEqual([])
  })

  it('no two folders import each other, and no folder and a file beside it: neither rooms nor the folders of a room', () => {
    // Each folder is one level: its folders and loose files, with the imports between any files below them.
    const folders = new Set(['src', ...SOURCES.flatMap((file) => foldersOf(file))])
    const knots = [...folders].flatMap((folder) => {
      const graph = new Map<string, string[]>()
      for (const file of SOURCES.filter((path) => isIn(path, folder))) {
        const from = partOf(file, folder)
        const reached = (GRAPH.get(file) ?? []).filter((target) => isIn(target, folder)).map((target) => partOf(target, folder))
        graph.set(from, [...(graph.get(from) ?? []), ...reached.filter((part) => part !== from)])
      }
      return findCircles(graph).map((parts) => `${folder}: ${parts.join(', ')}`)
    })
    expect(knots).toEqual([])
  })

  it('the search for circles finds circles', () => {
    const graph = new Map([
      ['a', ['b', 'x']],
      ['b', ['c']],
      ['c', ['b', 'd']],
      ['d', ['e']],
      ['e', []],
      ['f', ['f']],
    ])
    expect(findCircles(graph)).toEqual([['b', 'c'], ['f']])
  })

  it('every room uses the packages that are listed for it', () => {
    const used = new Map<string, Set<string>>()
    for (const file of SOURCES) {
      for (const target of (GRAPH.get(file) ?? []).filter((specifier) => roomOf(specifier) === undefined).flatMap(packageOf)) {
        used.set(target, (used.get(target) ?? new Set()).add(roomOf(file) ?? file))
      }
    }
    expect(Object.fromEntries([...used].map(([name, rooms]) => [name, [...rooms].toSorted()]))).toEqual(PACKAGES)
  })

  it('only tables and queries write SQL for D1', () => {
    const writers = SOURCES.filter((file) => GRAPH.get(file)?.some((target) => target.startsWith('drizzle-orm')))
    expect(writers.filter((file) => !isIn(file, 'src/db'))).toEqual([])
  })

  it('routes reach objects through verbs', () => {
    const callers = SOURCES.filter((file) => GRAPH.get(file)?.includes('src/objects/stubs.ts')).map(roomOf)
    expect([...new Set(callers)].sort()).toEqual(['durable-objects', 'src/effects', 'src/objects', 'src/services'])
  })

  it('[AUT-21] [C1] only objects/stubs.ts names objects, and only for what is proven to be owned', () => {
    const namespaces = /\b(ENDPOINT|HOST|RATE_LIMITER|WEBHOOK_SENDER|POD_LOG|CLUSTER)\b\s*\.|\bidFrom(Name|String)\b|\bgetByName\b/
    expect(SOURCES.filter((file) => namespaces.test(source(file)))).toEqual(['src/objects/stubs.ts'])
    const stubs = [...source('src/objects/stubs.ts').matchAll(/export function (\w+)\(env: Env, (.*?)\): DurableObjectStub/g)]
    expect(stubs.length).toBe(source('src/objects/stubs.ts').match(/DurableObjectStub</g)?.length)
    for (const [, name, parameter] of stubs)
      expect(parameter, name).toMatch(/^\{[\w ,:]+\}: Owned<('\w+'|LogKind)>(, region: LocationHint \| null = null)?$/)
  })

  it('[AUT-21] only the listed files read a proof of ownership, and none forges one', () => {
    expect(SOURCES.filter((file) => source(file).includes('Owned.prove')).sort()).toEqual(Object.keys(PROVERS).sort())
    expect(SOURCES.filter((file) => /\bas (unknown as )?(Owned|OwnEndpoint|OwnPod)\b/.test(source(file)))).toEqual([])
  })

  it('[AUT-21] access by the plane and the operator without a tenant is listed, each with its reason', () => {
    const callers = SOURCES.filter(
      (file) => GRAPH.get(file)?.includes('src/objects/ownership/as-plane.ts') && source(file).includes('asPlane('),
    )
    const reasons = (file: string) => [
      ...new Set([...source(file).matchAll(/\basPlane\([^;]*?, '([a-z ]+)'\)/g)].map(([, reason]) => reason)),
    ]
    expect(Object.fromEntries(callers.map((file) => [file, reasons(file)]))).toEqual(FOR_THE_PLANE)
    expect(SOURCES.filter((file) => source(file).includes('asOperator('))).toEqual([
      'src/objects/ownership/as-plane.ts',
      'src/services/hosts/host-metrics.ts',
      'src/services/hosts/hosts.ts',
    ])
  })

  it('[CFG-10] every object extends the base class of the plane, which applies the settings of the operator', () => {
    expect(SOURCES.filter((file) => /\bextends DurableObject\b/.test(source(file)))).toEqual(['durable-objects/plane-object.ts'])
  })

  it('only the endpoint object knows its whole core: every other file names the parts that it uses', () => {
    const knows = SOURCES.filter((file) => /\bEndpointCore\b/.test(source(file)))
    expect(knows.sort()).toEqual(['durable-objects/endpoint.ts', 'durable-objects/endpoint/core.ts'])
  })

  it('[CLK-1, CLK-2] no object has a timer of the runtime, which would stop when the clock is set', () => {
    const timer = /\bset(Timeout|Interval|Immediate)\(|\bscheduler\.wait\(|\bAbortSignal\.timeout\(/
    expect(
      listFiles('durable-objects')
        .filter((file) => timer.test(source(file)))
        .sort(),
    ).toEqual([
      'durable-objects/clock/sleeper.ts',
      // Fallback when no sleeper is reachable.
      'durable-objects/plane-object.ts',
    ])
  })

  it('verbs and effects use the instant of their request, except where a reason is listed', () => {
    const readers = [...listFiles('src/services'), ...listFiles('src/effects')].filter((file) =>
      /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/.test(source(file)),
    )
    expect(readers.sort()).toEqual(Object.keys(READS_THE_CLOCK).sort())
  })

  it('[RATE-33] calls over a list go through src/platform/at-once.ts, except where a line states what bounds them', () => {
    const rooms = ['src/services', 'src/effects', 'src/objects', 'src/http', 'src/queue', 'src/rpc', 'src/db', 'durable-objects']
    const unbounded = rooms.flatMap(listFiles).flatMap((file) => unboundedCalls(source(file)).map((line) => `${file}: ${line}`))
    expect(unbounded).toEqual([])
    expect(unboundedCalls('await Promise.all([one(), two()])\nawait Promise.all(hosts.map(ask))')).toEqual([
      'await Promise.all(hosts.map(ask))',
    ])
    expect(unboundedCalls('await Promise.allSettled([...hosts.map(ask)])')).toHaveLength(1)
    expect(unboundedCalls('await Promise.all([\n  ...hosts.map(ask),\n])')).toHaveLength(1)
    expect(unboundedCalls('// Bounded: two secrets.\nawait Promise.all(secrets.map(sign))')).toEqual([])
  })

  it('verbs and effects know nothing of HTTP', () => {
    const http = /\bnew (Request|Response|Headers)\b|: (Request|Response|Headers)\b|<Response>/
    for (const file of [...listFiles('src/services'), ...listFiles('src/effects')])
      expect(http.exec(source(file))?.[0], file).toBeUndefined()
  })
})

describe('domain', () => {
  const FORBIDDEN =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bcrypto\.|\bfetch\(|\bsetTimeout\b|\bsetInterval\b|\bperformance\.|\bprocess\.|\bEnv\b/
  for (const file of listFiles('src/domain')) {
    it(`${file} touches no clock, randomness, network or binding`, () => {
      const code = source(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      expect(FORBIDDEN.exec(code)?.[0]).toBeUndefined()
    })
  }
})

describe('the project stands alone', () => {
  it('no file names a machine path', () => {
    const needle = new RegExp(['/wo', 'rk/|\\.\\./sha', 'red/'].join(''))
    for (const folder of ['src', 'durable-objects', 'test', 'scripts']) {
      for (const file of listFiles(folder)) expect(needle.test(source(file)), file).toBe(false)
    }
  })
})
