import { openDatabase } from '../src/db/client.ts'
import { readClusterState } from '../src/db/clusters/members.ts'
import { ask, type ClusterState, decideCluster, type Member, type Step } from '../src/domain/cluster/life.ts'
import { type ClusterEffects, clusterEffects } from '../src/effects/clusters/steps.ts'
import type { Env } from '../src/env.ts'
import type { OverlayReport } from '../src/host-protocol/overlays.ts'
import type { ClusterRpc } from '../src/objects/cluster.ts'
import { logEvent } from '../src/platform/log.ts'
import { ALARMS_SCHEMA, Alarms } from './alarms.ts'
import { CheckStore } from './cluster/check-store.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema, hasTables } from './sql-migrations.ts'

const SCHEMA = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  ALARMS_SCHEMA,
  'CREATE TABLE reports (host_id TEXT PRIMARY KEY, number INTEGER NOT NULL, report TEXT NOT NULL) WITHOUT ROWID',
]
const LOOK_TIMER = 'look'
/** Rows that somebody was about to write are looked for after this, and no longer than the other. */
const LOOK_AFTER_MS = 5_000
const EXPECT_FOR_MS = 120_000
/** Steps of one look that follow from one another; what is left comes with the next. */
const MAX_ROUNDS = 20
/** Members that are changed at a time. */
const AT_A_TIME = 10

/**
 * One cluster: what becomes of its members is decided here, one thing at a time, out of their rows (adr/0034). Whatever it was doing when it
 * ended, the next look finds what is left to do.
 */
export class ClusterObject extends PlaneObject implements ClusterRpc {
  private readonly alarms: Alarms
  readonly store: CheckStore
  private turn: Promise<unknown> = Promise.resolve()
  /** Tests count and break what it does. */
  effects: ClusterEffects
  /** Milliseconds since the epoch; tests set their own clock. */
  now: () => number = () => this.timers.look()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.alarms = new Alarms(ctx.storage, this.timers)
    this.store = new CheckStore(ctx.storage.sql)
    this.effects = clusterEffects(env)
  }

  async expect(clusterId: string): Promise<void> {
    applySchema(this.ctx.storage, SCHEMA)
    this.store.expect(clusterId, this.now())
    await this.alarms.setBy(LOOK_TIMER, this.now() + LOOK_AFTER_MS)
  }

  async look(clusterId: string): Promise<void> {
    await this.expect(clusterId)
    await this.inTurn(() => this.settle())
  }

  async memberChanged(clusterId: string): Promise<void> {
    await this.expect(clusterId)
    await this.alarms.setBy(LOOK_TIMER, this.now())
  }

  async overlayReported(hostId: string, report: OverlayReport): Promise<void> {
    // Of a cluster that is gone nothing is to be known.
    if (!hasTables(this.ctx.storage)) return
    this.store.answer(hostId, report)
    await this.alarms.setBy(LOOK_TIMER, this.now())
  }

  override async alarm(): Promise<void> {
    if (hasTables(this.ctx.storage)) await this.inTurn(() => this.settle())
  }

  private inTurn(step: () => Promise<void>): Promise<void> {
    const next = this.turn.then(step, step)
    this.turn = next.catch(() => undefined)
    return next
  }

  // A look that fails is repeated: the timer is set first, and set to what was decided at the end.
  private async settle(): Promise<void> {
    const expected = hasTables(this.ctx.storage) ? this.store.expected() : null
    if (expected === null) return
    let lookAtMs: number | null = this.now() + LOOK_AFTER_MS
    await this.alarms.set(LOOK_TIMER, lookAtMs)
    try {
      lookAtMs = await this.goOn(expected.clusterId)
    } catch (error) {
      logEvent('error', 'a cluster could not be looked at', { clusterId: expected.clusterId, error })
    } finally {
      if (lookAtMs !== null) await this.alarms.set(LOOK_TIMER, lookAtMs)
    }
  }

  /** Does what is to be done; says when to look again, or null when nothing is left. */
  private async goOn(clusterId: string): Promise<number | null> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const read = await readClusterState(openDatabase(this.env.DB), clusterId)
      if (read === null) return this.forgetUnlessExpected()
      await this.catchUp(clusterId, read)
      const { steps, lookAtMs } = decideCluster(read.cluster, read.members, this.store.read(), this.store.answers(), this.now())
      if (steps.some(({ kind }) => kind === 'forget')) {
        await this.effects.drop(clusterId)
        return this.forget()
      }
      if (!(await this.perform(steps, read.members))) return lookAtMs
    }
    return this.now()
  }

  /** The first question is written with the cluster; a later one may not have reached the hosts yet. */
  private async catchUp(clusterId: string, { cluster, members }: { cluster: ClusterState; members: readonly Member[] }): Promise<void> {
    const isFresh = members.every(({ generation }) => generation === 1)
    if (this.store.read() === null && cluster.checkNumber > 0 && isFresh) {
      this.store.write(ask(members, cluster.checkNumber, this.now()))
      this.store.writeTold(cluster.checkNumber)
    }
    const check = this.store.read()
    if (check === null || this.store.toldNumber() >= check.number) return
    await this.effects.publishCheck(
      clusterId,
      check.number,
      members.map(({ hostId }) => hostId),
    )
    this.store.writeTold(check.number)
  }

  /** True when anything has changed, so that there is something to decide anew. */
  private async perform(steps: readonly Step[], members: readonly Member[]): Promise<boolean> {
    let hasChanged = false
    // The order of those that are given up is what makes the rest be found again.
    const atATime = steps.some(({ kind }) => kind === 'giveUp') ? 1 : AT_A_TIME
    for (let done = 0; done < steps.length; done += atATime) {
      const some = steps.slice(done, done + atATime)
      const outcomes = await Promise.all(some.map((step) => this.performOne(step, members)))
      hasChanged ||= outcomes.includes(true)
    }
    return hasChanged
  }

  private async performOne(step: Step, members: readonly Member[]): Promise<boolean> {
    switch (step.kind) {
      case 'ask':
        // Remembered before anybody is told, so that no answer comes before its question.
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

  // A create may be under way whose batch is not written yet.
  private async forgetUnlessExpected(): Promise<number | null> {
    const dueMs = (this.store.expected()?.atMs ?? 0) + EXPECT_FOR_MS
    return this.now() < dueMs ? this.now() + LOOK_AFTER_MS : this.forget()
  }

  private async forget(): Promise<null> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    return null
  }
}
