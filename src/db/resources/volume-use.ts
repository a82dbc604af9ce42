import { and, sql } from 'drizzle-orm'
import type { VolumeUse } from '../../host-protocol/volumes.ts'
import type { Database, Statement } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { globalVolumes, networkVolumes } from '../schema.ts'
import { isMountedBy } from './volume-hosts.ts'

/** Records the use of network volumes, reported by a host that mounts or mounted them (VOL-9, EDG-1). */
export function noteNetworkUse(db: Database, hostId: string, used: readonly VolumeUse[], nowMs: number): Statement {
  const said = JSON.stringify(used.filter(({ kind }) => kind === 'network'))
  const own = (name: 'bytes' | 'enforced') =>
    sql`(SELECT json_extract(value, ${`$.${name}`}) FROM json_each(${said}) WHERE json_extract(value, '$.id') = ${networkVolumes.id})`
  const named = sql`${networkVolumes.id} IN (SELECT json_extract(value, '$.id') FROM json_each(${said}))`
  return db
    .update(networkVolumes)
    .set({ usedBytes: own('bytes'), usedAtMs: nowMs, sizeEnforced: own('enforced') })
    .where(and(named, isMountedBy(hostId, networkVolumes.id)))
}

/** Records the use of global volumes, reported by a host that mounts or mounted them (GLV-5, EDG-1). */
export function noteGlobalUse(db: Database, hostId: string, used: readonly VolumeUse[], nowMs: number): Statement {
  const said = JSON.stringify(used.filter(({ kind }) => kind === 'global'))
  return db
    .update(globalVolumes)
    .set({
      usedBytes: sql`(SELECT json_extract(value, '$.bytes') FROM json_each(${said}) WHERE json_extract(value, '$.id') = ${globalVolumes.id})`,
      usedAtMs: nowMs,
    })
    .where(
      and(sql`${globalVolumes.id} IN (SELECT json_extract(value, '$.id') FROM json_each(${said}))`, isMountedBy(hostId, globalVolumes.id)),
    )
}

/** Sizes of the given network volumes that a host mounts or mounted (VOL-10, EDG-1). */
export function listSizes(db: Database, hostId: string, ids: readonly string[]) {
  return db
    .select({ id: networkVolumes.id, sizeGb: networkVolumes.sizeGb })
    .from(networkVolumes)
    .where(and(isOneOf(networkVolumes.id, ids), isMountedBy(hostId, networkVolumes.id)))
}
