import { and, eq, inArray, sql } from 'drizzle-orm'
import type { VolumeUse } from '../../host-protocol/volumes.ts'
import type { Database, Statement } from '../client.ts'
import { globalVolumes, networkVolumes } from '../schema.ts'

/** What is in network volumes, as a host of their data center found it (VOL-9). */
export function noteNetworkUse(db: Database, dataCenterId: string, used: readonly VolumeUse[], nowMs: number): Statement {
  const said = JSON.stringify(used.filter(({ kind }) => kind === 'network'))
  const own = (name: 'bytes' | 'enforced') =>
    sql`(SELECT json_extract(value, ${`$.${name}`}) FROM json_each(${said}) WHERE json_extract(value, '$.id') = ${networkVolumes.id})`
  const named = sql`${networkVolumes.id} IN (SELECT json_extract(value, '$.id') FROM json_each(${said}))`
  return db
    .update(networkVolumes)
    .set({ usedBytes: own('bytes'), usedAtMs: nowMs, sizeEnforced: own('enforced') })
    .where(and(named, eq(networkVolumes.dataCenterId, dataCenterId)))
}

/** What is in global volumes, as any host found it (GLV-5). */
export function noteGlobalUse(db: Database, used: readonly VolumeUse[], nowMs: number): Statement {
  const said = JSON.stringify(used.filter(({ kind }) => kind === 'global'))
  return db
    .update(globalVolumes)
    .set({
      usedBytes: sql`(SELECT json_extract(value, '$.bytes') FROM json_each(${said}) WHERE json_extract(value, '$.id') = ${globalVolumes.id})`,
      usedAtMs: nowMs,
    })
    .where(sql`${globalVolumes.id} IN (SELECT json_extract(value, '$.id') FROM json_each(${said}))`)
}

/** Sizes of those of some network volumes that lie in a data center. */
export function listSizes(db: Database, dataCenterId: string, ids: readonly string[]) {
  return db
    .select({ id: networkVolumes.id, sizeGb: networkVolumes.sizeGb })
    .from(networkVolumes)
    .where(and(inArray(networkVolumes.id, [...ids]), eq(networkVolumes.dataCenterId, dataCenterId)))
}
