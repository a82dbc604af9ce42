import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { sameValue } from '../same-value.ts'
import type { PlacedConfig } from '../worker/shape.ts'
import { effect, noEffect } from './effect.ts'
import { rangeText, workerPriceRange } from './worker-price.ts'

// What a change of the catalog and its prices does (DRY-23). Pure.

/** An endpoint, as far as its workers cost something. */
export interface PricedEndpoint extends PlacedConfig {
  id: string
  name: string
}

/** What is in force of an entry, by the names of the catalog; null: nobody knows it. */
type InForce = Readonly<Record<string, unknown>> | null

/** A change of one entry, and who is reached by it. */
export interface CatalogChange {
  entry: { before: InForce; after: InForce }
  catalog: { before: Catalog; after: Catalog }
  endpoints: readonly PricedEndpoint[]
  /** Endpoints that are older than those. */
  leftOut: number
  /** Pods that were made with it, or volumes. */
  keepers: { count: number; words: string }
}

/** What the operator's word on an entry does: what there is goes on at its price, and the next worker of an endpoint costs the new one. */
export function planCatalogChange(resource: ChangedResource, change: CatalogChange): ChangeEffect[] {
  const own = entryEffects(resource, change.entry)
  if (own.length === 0) return noEffect(resource)
  const { count, words } = change.keepers
  const keeps = { ...effect(resource, 'STAYS', 'INFO', `${count} ${words} what they cost now`), amount: count }
  const unseen = {
    ...effect(resource, 'CHANGES', 'INFO', `${change.leftOut} older endpoints were not looked through`),
    amount: change.leftOut,
  }
  return [
    ...own,
    ...(count > 0 ? [keeps] : []),
    ...change.endpoints.flatMap((endpoint) => endpointEffects(endpoint, change.catalog)),
    ...(change.leftOut > 0 ? [unseen] : []),
  ]
}

function entryEffects(resource: ChangedResource, { before, after }: CatalogChange['entry']): ChangeEffect[] {
  if (after === null) return [effect(resource, 'DELETES', 'WARNING', 'it is not offered any more, and nothing new can name it')]
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].filter(
    (name) => !sameValue(before?.[name], after[name]),
  )
  const isWithdrawn = before?.offered === true && after.offered === false
  return [
    ...names.map((name) => effect(resource, 'CHANGES', 'INFO', `${name}: ${textOf(before?.[name])} becomes ${textOf(after[name])}`)),
    ...(isWithdrawn ? [effect(resource, 'REFUSES', 'WARNING', 'no new pod and no new worker gets it; what is there goes on')] : []),
  ]
}

function endpointEffects({ id, name, ...config }: PricedEndpoint, catalog: CatalogChange['catalog']): ChangeEffect[] {
  const resource = { kind: 'endpoint' as const, id, name, teamId: config.teamId }
  const [before, after] = [workerPriceRange(catalog.before, config), workerPriceRange(catalog.after, config)]
  if (sameValue(before, after)) return []
  if (after === null) return [effect(resource, 'WAITS', 'WARNING', 'nothing that it may run on is offered any more: its jobs wait')]
  const former = before === null ? 'nothing that it may run on was offered' : `before: ${rangeText(before)}`
  return [effect(resource, 'CHANGES', 'INFO', `a worker that starts from now on costs ${rangeText(after)} USD per hour; ${former}`)]
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value)
}
