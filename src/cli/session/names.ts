import type { Command } from 'commander'
import { ApiError } from '../../client/errors.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { readAllPages } from './pages.ts'
import type { Session } from './session.ts'

/** Resource with an id and a name. */
export interface Named {
  id: string
  name: string
}

const LISTS = {
  pod: async ({ api }: Session) => (await readAllPages((query) => api.listPods({ query: { ...query, includeClusterPods: true } }))).pods,
  endpoint: async ({ api }: Session) => (await readAllPages((query) => api.listEndpoints({ query }))).endpoints,
  cluster: async ({ api }: Session) => (await api.listClusters()).clusters,
  template: async ({ api }: Session) => (await readAllPages((query) => api.listTemplates({ query }))).templates,
  volume: async ({ api }: Session) => (await api.listNetworkVolumes()).networkVolumes,
  'global-volume': async ({ api }: Session) => (await api.listGlobalVolumes()).globalVolumes,
  registry: async ({ api }: Session) => (await api.listRegistries()).registries,
  secret: async ({ api }: Session) => (await api.listSecrets()).secrets,
  organization: async ({ api }: Session) => (await api.listOrganizations()).organizations,
} satisfies Record<string, (session: Session) => Promise<readonly Named[]>>

/** Kind of resource that has a name. */
export type Kind = keyof typeof LISTS

/** Names of the arguments and flags that take an id or a name; in a flag, the part after a colon stays unchanged. */
const TAKES: Readonly<Record<string, readonly Kind[]>> = {
  ...Object.fromEntries((Object.keys(LISTS) as Kind[]).map((kind) => [kind, [kind]])),
  'pod-or-endpoint': ['pod', 'endpoint'],
}

/** Kinds that an argument or flag of this name takes: `pods` takes the same as `pod`. */
export function kindsOf(name: string): readonly Kind[] | undefined {
  return TAKES[name] ?? TAKES[name.replace(/ies$/, 'y')] ?? TAKES[name.replace(/s$/, '')]
}

/** Returns all resources of these kinds, with their ids and names. */
export async function listOf(session: Session, kinds: readonly Kind[]): Promise<readonly Named[]> {
  return (await Promise.all(kinds.map(async (kind) => await LISTS[kind](session)))).flat()
}

const ID = /^[a-z0-9]{14}$/
/** Statuses of a list that the key may not read, or that an older plane does not have. */
const UNLISTED = new Set([403, 404])
const NEAREST = 3

/**
 * Resolves names in arguments to ids (CMD-17). Text in the form of an id is used without a request; with `isStrict` it is looked up too,
 * after the plane has not found it as an id. Each list is read once.
 */
export class Names {
  private readonly session: Session
  private readonly isStrict: boolean
  private readonly lists = new Map<string, Promise<readonly Named[] | undefined>>()

  constructor(session: Session, isStrict: boolean) {
    this.session = session
    this.isStrict = isStrict
  }

  /** Arguments of a command with names resolved to ids. */
  async ofArguments(command: Command, args: readonly unknown[]): Promise<unknown[]> {
    return await Promise.all(args.map(async (value, index) => await this.ofValue(command.registeredArguments[index]?.name(), value)))
  }

  /** Options of a command with names resolved to ids. */
  async ofOptions<Options extends object>(command: Command, options: Options): Promise<Options> {
    const names = new Set(command.options.map((option) => option.attributeName()))
    const entries = Object.entries(options).map(async ([name, value]) => [name, names.has(name) ? await this.ofFlag(name, value) : value])
    return Object.fromEntries(await Promise.all(entries)) as Options
  }

  private async ofValue(name: string | undefined, value: unknown): Promise<unknown> {
    const kinds = name === undefined ? undefined : kindsOf(name)
    if (kinds === undefined) return value
    if (Array.isArray(value)) return await Promise.all(value.map(async (one) => await this.idOf(kinds, String(one))))
    return typeof value === 'string' ? await this.idOf(kinds, value) : value
  }

  private async ofFlag(name: string, value: unknown): Promise<unknown> {
    const kinds = kindsOf(name)
    if (kinds === undefined || typeof value !== 'string') return value
    const [text = '', ...rest] = value.split(':')
    return [await this.idOf(kinds, text), ...rest].join(':')
  }

  async idOf(kinds: readonly Kind[], text: string): Promise<string> {
    if (!this.isStrict && ID.test(text)) return text
    const things = await this.listOf(kinds)
    // The plane has already reported that no resource has this id.
    if (things === undefined || (ID.test(text) && !things.some(({ name }) => name === text))) return text
    const list = kinds.map((kind) => `podplane ${pluralOf(kind)} list`).join(' or ')
    const id = pickId({ what: kinds.join(' or '), list }, text, things)
    if (id !== text) this.session.written.set(id, text)
    return id
  }

  private async listOf(kinds: readonly Kind[]): Promise<readonly Named[] | undefined> {
    const key = kinds.join()
    const known = this.lists.get(key)
    if (known !== undefined) return await known
    const list = listOf(this.session, kinds).catch((error: unknown) => {
      if (error instanceof ApiError && UNLISTED.has(error.status)) return undefined
      throw error
    })
    this.lists.set(key, list)
    return await list
  }
}

/**
 * Id that a text refers to. An id takes precedence over a name; throws a usage error if several resources have the name, and `CliError` if
 * none has it.
 */
export function pickId({ what, list }: { what: string; list: string }, text: string, things: readonly Named[]): string {
  if (things.some(({ id }) => id === text)) return text
  const named = things.filter(({ name }) => name === text)
  if (named[0] !== undefined && named.length === 1) return named[0].id
  if (named.length > 1)
    throw usage(`several resources have the name ${text}`, `use one of these ids: ${named.map(({ id }) => id).join(', ')}`)
  const near = nearest(text, things).map(({ id, name }) => `${name} (${id})`)
  throw new CliError(EXIT.NOT_FOUND, 'not_found', `there is no ${what} ${text}`, {
    hint: near.length > 0 ? `similar names: ${near.join(', ')}` : `${list} shows the existing ones`,
  })
}

/** Whether a text has the form of the ids of a plane. */
export function isId(text: string): boolean {
  return ID.test(text)
}

/** Resolves a text of a kind to an id, where it is not a whole argument. */
export async function idOf(session: Session, kind: Kind, text: string): Promise<string> {
  return await new Names(session, false).idOf([kind], text)
}

function pluralOf(kind: Kind): string {
  return kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`
}

/** Similar names for a suggestion, most similar first. */
export function nearest(text: string, things: readonly Named[]): Named[] {
  const wanted = text.toLowerCase()
  const most = Math.max(2, Math.floor(text.length / 3))
  return things
    .map((thing) => ({ thing, distance: distanceOf(wanted, thing.name.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance || a.thing.name.localeCompare(b.thing.name))
    .slice(0, NEAREST)
    .map(({ thing }) => thing)
}

/** Edit distance; 1 if one text contains the other. */
function distanceOf(a: string, b: string): number {
  if (b.includes(a) || (b !== '' && a.includes(b))) return 1
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
