import type { CatalogItem } from '../../contract/catalog/entries.ts'
import { Problem } from '../../contract/problems.ts'
import { deleteCatalogEntry, hasTeam, listCatalogEntries, putCatalogEntry } from '../../db/catalog/entries.ts'
import { findCatalogUser } from '../../db/catalog/users.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { completeEntry, lostBetween, refuseCatalog } from '../../domain/catalog/change.ts'
import type { CatalogKind, KeyedEntry } from '../../domain/catalog/entries.ts'
import { mergeCatalog } from '../../domain/catalog/merge.ts'
import { SEED_CATALOG } from '../../domain/catalog/seed.ts'
import { dropCatalog } from '../../effects/catalog.ts'
import type { Env } from '../../env.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'

/** Maximum number of operator entries: every read of the catalog reads all of them. */
const MAX_ENTRIES = 1_000

/** Returns all items of a kind in the catalog (CAT-15), from the seed and from entries. */
export async function listItems(env: Env, kind: CatalogKind): Promise<CatalogItem[]> {
  const entries = await listCatalogEntries(openDatabase(env.DB))
  return known(entries, kind).map(({ id }) => itemOf(entries, kind, id))
}

/** Returns one item. Throws 404. */
export async function getItem(env: Env, kind: CatalogKind, id: string): Promise<CatalogItem> {
  const entries = await listCatalogEntries(openDatabase(env.DB))
  if (!has(entries, kind, id)) throw new Problem('notFound')
  return itemOf(entries, kind, id)
}

/** The operator's catalog entries before and after a change. */
export interface EntriesChange {
  before: readonly KeyedEntry[]
  after: readonly KeyedEntry[]
  /** The previous entry of the id; undefined: there was none. */
  previous: KeyedEntry | undefined
}

/**
 * Stores an entry in place of the previous one; running resources keep the price that they started with (CAT-16). Throws 400, 404 (the
 * publisher is no account), and 409 (in use).
 */
export async function putItem(ctx: OperatorContext, given: KeyedEntry): Promise<CatalogItem> {
  const { kind, id } = given
  const entry = completeEntry(SEED_CATALOG, given)
  const { after, previous } = await decidePut(ctx, entry)
  const change = {
    action: 'catalog.set',
    resourceKind: 'catalog',
    resourceId: `${kind}/${id}`,
    before: previous?.body ?? {},
    after: entry.body,
  }
  await putCatalogEntry(openDatabase(ctx.env.DB), entry, ctx.nowMs, noteByOperator(ctx, null, { ...change }))
  dropCatalog()
  return itemOf(after, kind, id)
}

/** Returns the entries before and after a PUT of a complete entry. Throws 400, 404 and 409. */
export async function decidePut({ env }: OperatorContext, entry: KeyedEntry): Promise<EntriesChange> {
  const { kind, id } = entry
  const db = openDatabase(env.DB)
  const before = await listCatalogEntries(db)
  if (kind === 'PUBLISHER' && !(await hasTeam(db, id))) throw new Problem('notFound')
  const previous = before.find((one) => one.kind === kind && one.id === id)
  if (!previous && before.length >= MAX_ENTRIES) {
    throw new Problem('badRequest', { detail: `the catalog has reached its maximum of ${MAX_ENTRIES} entries`, code: 'RULE' })
  }
  const after = [...before.filter((one) => one !== previous), entry]
  const refusal = refuseCatalog(mergeCatalog(SEED_CATALOG, after), entry)
  if (refusal !== null) throw new Problem('badRequest', { detail: refusal, code: 'RULE' })
  await requireUnused(db, before, after, `${kind} ${id}`)
  return { before, after, previous }
}

/** Deletes an entry: the seed applies again, and items that exist only by this entry disappear. Throws 404, and 409 (in use). */
export async function deleteItem(ctx: OperatorContext, kind: CatalogKind, id: string): Promise<void> {
  const { previous } = await decideDelete(ctx, kind, id)
  const change = { action: 'catalog.delete', resourceKind: 'catalog', resourceId: `${kind}/${id}`, before: previous.body, after: null }
  await deleteCatalogEntry(openDatabase(ctx.env.DB), kind, id, noteByOperator(ctx, null, { ...change }))
  dropCatalog()
}

/** Returns the entries before and after a DELETE. Throws 404 and 409. */
export async function decideDelete(
  { env }: OperatorContext,
  kind: CatalogKind,
  id: string,
): Promise<EntriesChange & { previous: KeyedEntry }> {
  const db = openDatabase(env.DB)
  const before = await listCatalogEntries(db)
  const previous = orNotFound(before.find((one) => one.kind === kind && one.id === id))
  const after = before.filter((one) => one !== previous)
  await requireUnused(db, before, after, `${kind} ${id}`)
  return { before, after, previous }
}

// Throws 409 when an item in use would disappear from the catalog; setting `offered` to false is always possible.
async function requireUnused(db: Database, before: readonly KeyedEntry[], after: readonly KeyedEntry[], what: string): Promise<void> {
  const lost = lostBetween(mergeCatalog(SEED_CATALOG, before), mergeCatalog(SEED_CATALOG, after))
  const user = await findCatalogUser(db, lost)
  if (user === null) return
  throw new Problem('conflict', {
    detail: `${what} is in use by ${user}; set offered to false to prevent new use`,
    code: 'IN_USE',
  })
}

/** Returns the values in force for an id; null: it is unknown. */
export function inForceOf(entries: readonly KeyedEntry[], kind: CatalogKind, id: string): Record<string, unknown> | null {
  const found = known(entries, kind).find((one) => one.id === id)
  if (!found) return null
  const { id: _id, ...inForce } = found
  return inForce
}

function itemOf(entries: readonly KeyedEntry[], kind: CatalogKind, id: string): CatalogItem {
  const entry = entries.find((one) => one.kind === kind && one.id === id)
  const origin = has([], kind, id) ? (entry ? 'CHANGED' : 'SEED') : 'OWN'
  return { id, origin, entry: { ...entry?.body }, inForce: inForceOf(entries, kind, id) ?? {} }
}

const has = (entries: readonly KeyedEntry[], kind: CatalogKind, id: string) => known(entries, kind).some((one) => one.id === id)

function known(entries: readonly KeyedEntry[], kind: CatalogKind): readonly { id: string }[] {
  const { gpuTypes, cpuFlavors, dataCenters, storage } = mergeCatalog(SEED_CATALOG, entries)
  switch (kind) {
    case 'GPU':
      return gpuTypes
    case 'CPU':
      return cpuFlavors
    case 'DATA_CENTER':
      return dataCenters
    case 'STORAGE':
      return Object.entries(storage).map(([id, prices]) => ({ id, ...prices }))
    case 'PUBLISHER':
      return entries.flatMap((one) => (one.kind === kind ? [{ id: one.id, ...one.body }] : []))
  }
}
