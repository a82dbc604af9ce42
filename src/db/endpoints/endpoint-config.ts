import { and, eq, isNull } from 'drizzle-orm'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Database } from '../client.ts'
import { endpoints } from '../tables/endpoints.ts'

/** The stored configuration of a live endpoint, whoever owns it: for the endpoint's own object, never for a request of a tenant. */
export async function findEndpointConfig(db: Database, endpointId: string): Promise<EndpointConfig | null> {
  const rows = await db
    .select({ config: endpoints.config })
    .from(endpoints)
    .where(and(eq(endpoints.id, endpointId), isNull(endpoints.deletedAt)))
  return rows[0]?.config ?? null
}
