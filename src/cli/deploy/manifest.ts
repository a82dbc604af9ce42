import { parse } from 'smol-toml'
import type { ApiBody } from '../../client/client.ts'
import { errorText } from '../../node/fail.ts'
import { parseDurationMs } from '../core/durations.ts'
import { usage } from '../core/failure.ts'

// The file podplane.toml declares an application with the fields of the API (CMD-20).

/** Kinds in order of creation: each may reference the kinds before it. */
export const KINDS = ['volumes', 'templates', 'endpoints', 'pods'] as const
export type Kind = (typeof KINDS)[number]

/** Job that tests whether an endpoint works. */
export interface Smoke {
  input: Record<string, unknown>
  timeoutMs: number
}

/** Resource that the file declares. */
export interface Declared {
  kind: Kind
  name: string
  /** Fields of the create request, without the name, which is the name of the table. */
  members: Record<string, unknown>
  smoke?: Smoke
}

type Names<Body> = Record<Exclude<keyof Body, 'name'>, true>

/** Allowed fields per kind; the compiler compares them with the API's request types. */
const MEMBERS = {
  volumes: { size: true, dataCenter: true, type: true } satisfies Names<ApiBody<'createNetworkVolume'>>,
  templates: {
    ...containerMembers(),
    mounts: true,
    serverless: true,
    public: true,
    category: true,
    startSsh: true,
    startJupyter: true,
    allowedCudaVersions: true,
  } satisfies Names<ApiBody<'createTemplate'>>,
  endpoints: {
    ...containerMembers(),
    cloud: true,
    cpu: true,
    dataCenterIds: true,
    flashboot: true,
    gpu: true,
    networkVolumes: true,
    resultRetention: true,
    scaling: true,
    templateId: true,
    timeout: true,
    type: true,
    workers: true,
  } satisfies Names<ApiBody<'createEndpoint'>>,
  pods: {
    ...containerMembers(),
    cloud: true,
    cpu: true,
    dataCenterIds: true,
    globalNetworking: true,
    gpu: true,
    idleStop: true,
    labels: true,
    mounts: true,
    onHostLoss: true,
    startJupyter: true,
    startSsh: true,
    stopAfter: true,
    templateId: true,
    terminateAfter: true,
  } satisfies Names<ApiBody<'createPod'>>,
}
const SMOKE = 'smoke'
const SMOKE_MS = 10 * 60_000

function containerMembers() {
  return { args: true, cmd: true, entrypoint: true, disk: true, env: true, image: true, ports: true, registry: true } as const
}

/**
 * Parses a podplane.toml; `path` names it in errors. `${NAME}` and `${NAME:-default}` are replaced by environment variables, `$${` stands
 * for itself.
 */
export function readManifest(text: string, path: string, env: Readonly<Record<string, string | undefined>>): Declared[] {
  const tables = parsed(text, path)
  const unknown = Object.keys(tables).find((name) => !KINDS.some((kind) => kind === name))
  if (unknown !== undefined) throw usage(`${path}: ${unknown}: unknown table; it must be one of ${KINDS.join(', ')}`)
  const declared = KINDS.flatMap((kind) => readKind(kind, tables[kind] ?? {}, path, env))
  if (declared.length === 0) throw usage(`${path} declares nothing`, 'podplane init endpoint writes a starter file')
  const names = new Set(declared.map(({ kind, name }) => `${kind}.${name}`))
  for (const { kind, name, members } of declared) {
    for (const reference of referencesIn(members)) {
      if (!names.has(reference)) throw usage(`${path}: ${kind}.${name}: ${reference} is not declared in this file`)
    }
  }
  return declared
}

function parsed(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    throw usage(`${path}: ${errorText(error).trim()}`)
  }
}

function readKind(kind: Kind, tables: unknown, path: string, env: Readonly<Record<string, string | undefined>>): Declared[] {
  if (!isRecord(tables)) throw usage(`${path}: ${kind} must be tables, such as [${kind}.name]`)
  return Object.entries(tables).map(([name, table]) => {
    const where = `${path}: ${kind}.${name}`
    if (!isRecord(table)) throw usage(`${where} must be a table, such as [${kind}.${name}]`)
    const { [SMOKE]: smoke, ...given } = table
    if (smoke !== undefined && kind !== 'endpoints') throw usage(`${where}.${SMOKE}: only endpoints have a smoke job`)
    const known = MEMBERS[kind] as Readonly<Record<string, true>>
    const unknown = Object.keys(given).find((member) => known[member] === undefined)
    if (unknown !== undefined) throw usage(`${where}.${unknown}: unknown field; it must be one of ${Object.keys(known).join(', ')}`)
    const members = filled(given, where, env) as Record<string, unknown>
    return {
      kind,
      name,
      members,
      ...(smoke !== undefined && { smoke: readSmoke(filled(smoke, `${where}.${SMOKE}`, env), `${where}.${SMOKE}`) }),
    }
  })
}

function readSmoke(smoke: unknown, where: string): Smoke {
  if (!isRecord(smoke) || !isRecord(smoke.input)) throw usage(`${where} needs an input, such as { input = { prompt = "Hello" } }`)
  const { input, timeout, ...others } = smoke
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw usage(`${where}.${unknown}: unknown field; it must be input or timeout`)
  if (timeout === undefined) return { input, timeoutMs: SMOKE_MS }
  const timeoutMs = typeof timeout === 'string' ? parseDurationMs(timeout) : undefined
  if (timeoutMs === undefined) throw usage(`${where}.timeout: it must be a duration such as "90s" or "10m"`)
  return { input, timeoutMs }
}

const VARIABLE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

/** Value with the environment variables in its strings replaced. */
function filled(value: unknown, where: string, env: Readonly<Record<string, string | undefined>>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => filled(item, `${where}[${index}]`, env))
  if (value instanceof Date) return value.toISOString()
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, `${where}.${name}`, env)]))
  if (typeof value !== 'string') return value
  return value.replace(VARIABLE, (whole, name: string | undefined, otherwise: string | undefined) => {
    if (name === undefined) return whole.slice(1)
    const text = env[name] || otherwise
    if (text === undefined) throw usage(`${where}: the variable ${name} is not set`, `set it, or write \${${name}:-default}`)
    return text
  })
}

const REFERENCE = /^(volumes|templates)\.([\w-]+)$/
/** Fields that hold ids. */
const OF_IDS = new Set(['templateId', 'networkVolumes', 'volumeId'])

/** References such as `volumes.data` in fields that hold ids. */
export function referencesIn(members: unknown): string[] {
  const found: string[] = []
  resolveReferences(members, (reference) => {
    found.push(reference)
    return undefined
  })
  return found
}

/** Fields with references replaced by ids; unknown ones stay. */
export function resolveReferences(value: unknown, idOf: (reference: string) => string | undefined, isId = false): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, idOf, isId))
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolveReferences(inner, idOf, OF_IDS.has(name))]))
  return isId && typeof value === 'string' && REFERENCE.test(value) ? (idOf(value) ?? value) : value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
