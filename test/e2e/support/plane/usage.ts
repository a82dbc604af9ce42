import { openDataDir } from '../../../../src/local/data-dir.ts'
import { openLocalDatabase } from './local-database.ts'
import type { TestPlane } from './plane.ts'

/** A RUNNING interval of a pod, as it is charged. Milliseconds. */
export interface UsageRow {
  podId: string
  startedAt: number
  endedAt: number
  gpuCount: number
}

/** The usage rows of a pod in order, read from the database of a local plane: no public call shows them one by one. */
export function readUsage(plane: Pick<TestPlane, 'dataDir'>, podId: string): UsageRow[] {
  const database = openLocalDatabase(openDataDir(plane.dataDir).storage, { readOnly: true })
  try {
    const columns = 'workload_id AS podId, started_at AS startedAt, ended_at AS endedAt, gpu_count AS gpuCount'
    const rows = database.prepare(`SELECT ${columns} FROM usage WHERE workload_id = ? ORDER BY started_at`).all(podId)
    return rows as unknown as UsageRow[]
  } finally {
    database.close()
  }
}
