import type { Env } from '../src/env.ts'
import type { OverlayReport } from '../src/host-protocol/overlays.ts'
import type { ClusterRpc } from '../src/objects/cluster.ts'
import { ALARMS_SCHEMA, Alarms } from './alarms.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

const SCHEMA = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  ALARMS_SCHEMA,
  'CREATE TABLE reports (host_id TEXT PRIMARY KEY, report TEXT NOT NULL) WITHOUT ROWID',
]
const LOOK_TIMER = 'look'
/** Rows that somebody was about to write are looked for after this. */
const LOOK_AFTER_MS = 5_000

/** One cluster: what becomes of its members is decided here, one thing at a time. */
export class ClusterObject extends PlaneObject implements ClusterRpc {
  private readonly alarms: Alarms

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, SCHEMA)
    this.alarms = new Alarms(ctx.storage)
  }

  async expect(clusterId: string): Promise<void> {
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('clusterId', ?)", clusterId)
    await this.alarms.setBy(LOOK_TIMER, Date.now() + LOOK_AFTER_MS)
  }

  async look(clusterId: string): Promise<void> {
    await this.expect(clusterId)
  }

  async memberChanged(clusterId: string): Promise<void> {
    await this.expect(clusterId)
  }

  async overlayReported(hostId: string, report: OverlayReport): Promise<void> {
    this.ctx.storage.sql.exec('INSERT OR REPLACE INTO reports (host_id, report) VALUES (?, ?)', hostId, JSON.stringify(report))
  }
}
