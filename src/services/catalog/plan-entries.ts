import type { ChangePlan } from '../../contract/change-plan.ts'
import { countNetworkVolumes, countPodsMadeWith, listPricedEndpoints } from '../../db/catalog/users.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { completeEntry } from '../../domain/catalog/change.ts'
import type { CatalogKind, KeyedEntry } from '../../domain/catalog/entries.ts'
import { mergeCatalog } from '../../domain/catalog/merge.ts'
import { SEED_CATALOG } from '../../domain/catalog/seed.ts'
import { type CatalogChange, planCatalogChange } from '../../domain/plan/catalog.ts'
import { planChange } from '../change-plan.ts'
import type { OperatorContext } from '../context.ts'
import { decideDelete, decidePut, type EntriesChange, inForceOf } from './entries.ts'

// Dry runs of catalog changes (DRY-23), with the decisions and errors of the changes themselves.

/** Endpoints that are checked for a changed price. */
const MAX_ENDPOINTS = 1_000
const PODS_KEEP = 'pods that were made with it keep'

/** Returns the plan of a PUT of an entry. Throws 404. */
export function planPutItem(ctx: OperatorContext, given: KeyedEntry): Promise<ChangePlan> {
  return planEntry(ctx, 'catalog.set', given, () => decidePut(ctx, completeEntry(SEED_CATALOG, given)))
}

/** Returns the plan of a DELETE of an entry. Throws 404. */
export function planDeleteItem(ctx: OperatorContext, kind: CatalogKind, id: string): Promise<ChangePlan> {
  return planEntry(ctx, 'catalog.delete', { kind, id }, () => decideDelete(ctx, kind, id))
}

function planEntry(
  { env }: OperatorContext,
  action: string,
  { kind, id }: Pick<KeyedEntry, 'kind' | 'id'>,
  decide: () => Promise<EntriesChange>,
): Promise<ChangePlan> {
  const resource = { kind: 'catalog' as const, id: `${kind}/${id}`, name: id }
  return planChange(action, resource, async () => {
    const { before, after } = await decide()
    const db = openDatabase(env.DB)
    const [keepers, { endpoints, leftOut }] = await Promise.all([keepersOf(db, kind, id), listPricedEndpoints(db, MAX_ENDPOINTS)])
    return planCatalogChange(resource, {
      entry: { before: inForceOf(before, kind, id), after: inForceOf(after, kind, id) },
      catalog: { before: mergeCatalog(SEED_CATALOG, before), after: mergeCatalog(SEED_CATALOG, after) },
      endpoints,
      leftOut,
      keepers,
    })
  })
}

async function keepersOf(db: Database, kind: CatalogKind, id: string): Promise<CatalogChange['keepers']> {
  if (kind === 'GPU' || kind === 'CPU') return { count: await countPodsMadeWith(db, id), text: PODS_KEEP }
  if (kind !== 'STORAGE') return { count: 0, text: PODS_KEEP }
  return id === 'networkVolume'
    ? { count: await countNetworkVolumes(db), text: 'network volumes, until they are resized, keep' }
    : { count: await countPodsMadeWith(db), text: 'pods that are there keep' }
}
