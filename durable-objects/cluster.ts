import { openDatabase } from '../src/db/client.ts'
import { readClusterState } from '../src/db/clusters/members.ts'
import { ask, type ClusterState, decideCluster, type Member, type Step } from '../src/domain/cluster/life.ts'
import { type ClusterEffects, clusterEffects } from '../src/effects/clusters/steps.ts'
import type { Env } from '../src/env.ts'
import type { OverlayReport } from '../src/host-protocol/overlays.ts'
import { mapAtOnce } from '../src/platform/at-once.ts'
import { logEvent } from '../src/platform/log.ts'
import type { ClusterRpc } from '../src/rpc/cluster.ts'
import { ALARMS_SCHEMA, Alarms } from './alarms.ts'
import { CheckStore } from './cluster/check-store.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema, hasTables } from './sql-migrations.ts'

const SCHEMA = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  ALARMS_SCHEMA,
  'CREATE TABLE reports (host_id TEXT PRIMARY KEY, number INTEGER NOT NULL, report TEXT NOT NULL) WITHOUT ROWID',
]
const RECONCILE_TIMER = 'look'
/** Delay before the rows of an announced create are read, and how long the object waits for them to appear. */
const RECONCILE_AFTER_MS = 5_000
const EXPECT_FOR_MS = 120_000
/** Rounds of consecutive steps in one reconciliation; the rest follows in the next one. */
const MAX_ROUNDS = 20
/** Members changed in parallel. */
const AT_A_TIME = 10

/**
 * One cluster. Decides the steps of its members serially, from their rows in D1 (adr/0034). Reconciliation is idempotent: after a crash the
 * next run continues.
 */
export class ClusterObject extends PlaneObject implements ClusterRpc {
  private readonly alarms: Alarms
  readonly store: CheckStore
  private turn: Promise<unknown> = Promise.resolve()
  /** Replaced by tests, to count effects and make them fail. */
  effects: ClusterEffects
  /** Milliseconds since the epoch; tests replace the clock. */
  now: () => number = () => this.timers.readClock()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.alarms = new Alarms(ctx.storage, this.timers)
    this.store = new CheckStore(ctx.storage.sql)
    this.effects = clusterEffects(env)
  }

  async expect(clusterId: string): Promise<void> {
    applySchema(this.ctx.storage, SCHEMA)
    this.store.expect(clusterId, this.now())
    await this.alarms.setBy(RECONCILE_TIMER, this.now() + RECONCILE_AFTER_MS)
  }

  async reconcile(clusterId: string): Promise<void> {
    await this.expect(clusterId)
    await this.inTurn(() => this.reconcileOnce())
  }

  async memberChanged(clusterId: string): Promise<void> {
    await this.expect(clusterId)
    await this.alarms.setBy(RECONCILE_TIMER, this.now())
  }

  async overlayReported(hostId: string, report: OverlayReport): Promise<void> {
    // Reports about a deleted cluster are dropped.
    if (!hasTables(this.ctx.storage)) return
    this.store.answer(hostId, report)
    await this.alarms.setBy(RECONCILE_TIMER, this.now())
  }

  override async alarm(): Promise<void> {
    if (hasTables(this.ctx.storage)) await this.inTurn(() => this.reconcileOnce())
  }

  private inTurn(step: () => Promise<void>): Promise<void> {
    const next = this.turn.then(step, step)
    this.turn = next.catch(() => undefined)
    return next
  }

  // A failed reconciliation is repeated: the timer is set before it, and set to the decided time at the end.
  private async reconcileOnce(): Promise<void> {
    const expected = hasTables(this.ctx.storage) ? this.store.expected() : null
    if (expected === null) return
    let checkAtMs: number | null = this.now() + RECONCILE_AFTER_MS
    await this.alarms.set(RECONCILE_TIMER, checkAtMs)
    try {
      checkAtMs = await this.goOn(expected.clusterId)
    } catch (error) {
      logEvent('error', 'a cluster could not be reconciled', { clusterId: expected.clusterId, error })
    } finally {
      if (checkAtMs !== null) await this.alarms.set(RECONCILE_TIMER, checkAtMs)
    }
  }

  /** Performs the due steps; returns the time of the next reconciliation, or null when nothing is left to do. */
  private async goOn(clusterId: string): Promise<number | null> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const read = await readClusterState(openDatabase(this.env.DB), clusterId)
      if (read === null) return this.deleteUnlessExpected()
      await this.catchUp(clusterId, read)
      const { steps, checkAtMs } = decideCluster(read.cluster, read.members, this.store.read(), this.store.answers(), this.now())
      if (steps.some(({ kind }) => kind === 'forget')) {
        await this.effects.drop(clusterId)
        return this.discard()
      }
      if (!(await this.perform(steps, read.members))) return checkAtMs
    }
    return this.now()
  }

  /** The first check is written together with the cluster; a later one may not have reached the hosts yet. */
  private async catchUp(clusterId: string, { cluster, members }: { cluster: ClusterState; members: readonly Member[] }): Promise<void> {
    const isFresh = members.every(({ generation }) => generation === 1)
    if (this.store.read() === null && cluster.checkNumber > 0 && isFresh) {
      this.store.write(ask(members, cluster.checkNumber, this.now()))
      this.store.writeAnnounced(cluster.checkNumber)
    }
    const check = this.store.read()
    if (check === null || this.store.announcedNumber() >= check.number) return
    await this.effects.publishCheck(
      clusterId,
      check.number,
      members.map(({ hostId }) => hostId),
    )
    this.store.writeAnnounced(check.number)
  }

  /** True when anything changed, so that the steps must be decided again. */
  private async perform(steps: readonly Step[], members: readonly Member[]): Promise<boolean> {
    // Steps of kind `giveUp` run one by one: the lost member comes last, so that after a crash the next run finds the remaining ones.
    const atATime = steps.some(({ kind }) => kind === 'giveUp') ? 1 : AT_A_TIME
    const outcomes = await mapAtOnce(steps, (step) => this.performOne(step, members), atATime)
    return outcomes.includes(true)
  }

  private async performOne(step: Step, members: readonly Member[]): Promise<boolean> {
    switch (step.kind) {
      case 'ask':
        // Stored before it is published, so that no answer arrives before its check.
        this.store.write(step.check)
        return true
      case 'release':
        await this.effects.release(step.members)
        return true
      case 'move':
        return this.effects.move(
          step.member,
          members.filter(({ id }) => id !== step.member.id),
          step.reason,
        )
      case 'fail':
        await this.effects.fail(step.member, step.reason)
        return true
      case 'giveUp':
        await this.effects.giveUp(step.member, step.reason)
        return true
      case 'terminate':
        await this.effects.terminate(step.member)
        return true
      case 'forget':
        return true
    }
  }

  // A create may be in progress whose batch is not written yet.
  private async deleteUnlessExpected(): Promise<number | null> {
    const dueMs = (this.store.expected()?.atMs ?? 0) + EXPECT_FOR_MS
    return this.now() < dueMs ? this.now() + RECONCILE_AFTER_MS : this.discard()
  }

  private async discard(): Promise<null> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    return null
  }
}
