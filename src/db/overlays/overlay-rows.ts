import { sql } from 'drizzle-orm'
import type { NetworkMember, NetworkOnHost } from '../../domain/overlay/networks-on-host.ts'
import type { Database } from '../client.ts'

/** A member with its network. */
type Row = Omit<NetworkOnHost, 'members'> & NetworkMember

/** The private networks of a host's live pods, each with all its members on all hosts, in a stable order. */
export async function readHostOverlays(db: Database, hostId: string): Promise<NetworkOnHost[]> {
  const rows = await db.all<Row>(sql`
    SELECT o.id, o.kind, o.slot, o.check_number AS checkNumber, p.id AS podId, p.cluster_rank AS rank, p.cluster_ip AS address,
      p.host_id AS hostId, json_extract(h.inventory, '$.overlay.address') AS hostAddress,
      json_extract(h.inventory, '$.overlay.publicKey') AS hostKey, json_extract(h.inventory, '$.overlay.mtu') AS hostMtu
    FROM overlays o JOIN pods p ON p.cluster_id = o.owner_id AND p.status <> 'TERMINATED' AND p.cluster_ip IS NOT NULL
      LEFT JOIN hosts h ON h.id = p.host_id
    WHERE o.kind = 'cluster' AND o.owner_id IN (SELECT cluster_id FROM pods WHERE host_id = ${hostId} AND status <> 'TERMINATED')
    UNION ALL
    SELECT o.id, o.kind, o.slot, 0, p.id, NULL, p.global_ip, p.host_id, json_extract(h.inventory, '$.overlay.address'),
      json_extract(h.inventory, '$.overlay.publicKey'), json_extract(h.inventory, '$.overlay.mtu')
    FROM overlays o JOIN pods p ON p.team_id = o.owner_id AND p.status <> 'TERMINATED' AND p.global_ip IS NOT NULL
      LEFT JOIN hosts h ON h.id = p.host_id
    WHERE o.kind = 'account' AND o.owner_id IN
      (SELECT team_id FROM pods WHERE host_id = ${hostId} AND status <> 'TERMINATED' AND global_ip IS NOT NULL)
    ORDER BY 1, 5`)
  return [...Map.groupBy(rows, ({ id }) => id)].flatMap(([id, members]) => {
    const [first] = members
    return first ? [{ id, kind: first.kind, slot: first.slot, checkNumber: first.checkNumber, members }] : []
  })
}

/** A network by its id, for reports about it, and which of some pods are its live members on a host. */
export async function findReported(
  db: Database,
  hostId: string,
  overlayId: string,
  podIds: readonly string[],
): Promise<{ kind: 'cluster' | 'account'; ownerId: string; onHost: Set<string> } | null> {
  const [network] = await db.all<{ kind: 'cluster' | 'account'; ownerId: string }>(
    sql`SELECT kind, owner_id AS ownerId FROM overlays WHERE id = ${overlayId}`,
  )
  if (!network) return null
  const rows = await db.all<{ id: string }>(sql`SELECT id FROM pods WHERE id IN (SELECT value FROM json_each(${JSON.stringify(podIds)}))
    AND host_id = ${hostId} AND status <> 'TERMINATED' AND (cluster_id = ${network.ownerId} OR team_id = ${network.ownerId})`)
  return { ...network, onHost: new Set(rows.map(({ id }) => id)) }
}
