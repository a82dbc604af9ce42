import { sql } from 'drizzle-orm'
import type { PodStatus } from '../../contract/enums.ts'
import type { IdlePod, IdleStop } from '../../domain/pod/idle-stop.ts'
import { TO_RUN } from '../../domain/pod/pod.ts'
import type { Database } from '../client.ts'

/** A pod that is stopped when idle. */
export interface IdleStopPod extends IdlePod {
  id: string
  generation: number
}

interface Row {
  id: string
  generation: number
  status: PodStatus
  startedAtMs: number | null
  idleStop: string
}

const TO_RUN_LIST = sql.join(
  TO_RUN.map((status) => sql`${status}`),
  sql`, `,
)

/** Pods of a host with an idle stop whose desired state is running and that are not locked (SPD-6). */
export async function listIdleStopPods(db: Database, hostId: string, limit: number): Promise<IdleStopPod[]> {
  const rows = await db.all<Row>(sql`SELECT id, generation, status, started_at AS startedAtMs, spec -> '$.idleStop' AS idleStop FROM pods
    WHERE host_id = ${hostId} AND status <> 'TERMINATED' AND status IN (${TO_RUN_LIST}) AND locked = 0 AND host_lost = 0
      AND spec -> '$.idleStop' IS NOT NULL ORDER BY id LIMIT ${limit}`)
  return rows.map(({ idleStop, ...row }) => ({
    ...row,
    locked: false,
    hostLost: false,
    spec: { idleStop: JSON.parse(idleStop) as IdleStop },
  }))
}
