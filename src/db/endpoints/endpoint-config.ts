import { and, eq, isNull } from 'drizzle-orm'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Place, Vault } from '../../platform/seal.ts'
import type { Database, Records } from '../client.ts'
import { openContainer, type Sealed, sealContainer } from '../sealed-env.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'

/** The stored configuration of a live endpoint of any owner: for the endpoint's own object, never for a tenant's request. */
export async function findEndpointConfig(db: Records, endpointId: string): Promise<EndpointConfig | null> {
  const rows = await db
    .select({ config: endpoints.config })
    .from(endpoints)
    .where(and(eq(endpoints.id, endpointId), isNull(endpoints.deletedAt)))
  return rows[0] ? openConfig(db.vault, rows[0].config) : null
}

/** Whether a live endpoint with this id exists, of any owner: for the endpoint's own object. */
export async function isLiveEndpoint(db: Database, endpointId: string): Promise<boolean> {
  const rows = await db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.id, endpointId), isNull(endpoints.deletedAt)))
  return rows.length > 0
}

/** Seals the variables of a configuration for this endpoint, to be stored in D1 (SEAL-2). */
export function sealConfig(vault: Vault, config: EndpointConfig): Sealed<EndpointConfig> {
  return sealContainer(vault, placeOf(config), config)
}

/** Opens a stored configuration. Throws when its variables cannot be opened. */
export function openConfig(vault: Vault, kept: Sealed<EndpointConfig>): EndpointConfig {
  return openContainer<EndpointConfig>(vault, placeOf(kept), kept)
}

function placeOf({ id, teamId }: Pick<EndpointConfig, 'id' | 'teamId'>): Place {
  return ['endpoints', id, 'env', teamId]
}
