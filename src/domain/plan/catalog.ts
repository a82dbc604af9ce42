import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { sameValue } from '../same-value.ts'
import type { PlacedConfig } from '../worker/shape.ts'
import { effect, noEffect } from './effect.ts'
import { rangeText, workerPriceRange } from './worker-price.ts'

// Plans for changes of the catalog and its prices (DRY-23). Pure.

/** Fields of an endpoint that determine the price of its workers. */
export interface PricedEndpoint extends PlacedConfig {
  id: string
  name: string
}

/** Fields of a catalog entry that are in force, by the names of the catalog; null: there is no such entry. */
type InForce = Readonly<Record<string, unknown>> | null

/** A change of one catalog entry, with the resources that it affects. */
export interface CatalogChange {
  entry: { before: InForce; after: InForce }
  catalog: { before: Catalog; after: Catalog }
  endpoints: readonly PricedEndpoint[]
  /** Number of older endpoints that the plan does not list. */
  leftOut: number
  /** Pods or volumes that were made with the entry and retain their price. */
  keepers: { count: number; text: string }
}

/** Changing a catalog entry: existing pods and volumes retain their price, and the next worker of an endpoint costs the new one. */
export function planCatalogChange(resource: ChangedResource, change: CatalogChange): ChangeEffect[] {
  const own = entryEffects(resource, change.entry)
  if (own.length === 0) return noEffect(resource)
  const { count, text } = change.keepers
  const keeps = { ...effect(resource, 'STAYS', 'INFO', `${count} ${text} what they cost now`), amount: count }
  const unseen = {
    ...effect(resource, 'CHANGES', 'INFO', `${change.leftOut} older endpoints were not checked`),
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
  if (after === null) return [effect(resource, 'DELETES', 'WARNING', 'it is not offered, and new requests cannot use it')]
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].filter(
    (name) => !sameValue(before?.[name], after[name]),
  )
  const isWithdrawn = before?.offered === true && after.offered === false
  return [
    ...names.map((name) => effect(resource, 'CHANGES', 'INFO', `${name}: ${textOf(before?.[name])} becomes ${textOf(after[name])}`)),
    ...(isWithdrawn ? [effect(resource, 'REFUSES', 'WARNING', 'new pods and workers cannot use it; existing ones keep running')] : []),
  ]
}

function endpointEffects({ id, name, ...config }: PricedEndpoint, catalog: CatalogChange['catalog']): ChangeEffect[] {
  const resource = { kind: 'endpoint' as const, id, name, teamId: config.teamId }
  const [before, after] = [workerPriceRange(catalog.before, config), workerPriceRange(catalog.after, config)]
  if (sameValue(before, after)) return []
  if (after === null) return [effect(resource, 'WAITS', 'WARNING', 'none of its compute types is offered: its jobs wait')]
  const previous = before === null ? 'none of its compute types was offered' : `before: ${rangeText(before)}`
  return [effect(resource, 'CHANGES', 'INFO', `a new worker costs ${rangeText(after)} USD per hour; ${previous}`)]
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value)
}
