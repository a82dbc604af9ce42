import { endDiskChargesOn } from '../../src/db/billing/charges.ts'
import { openDatabase } from '../../src/db/client.ts'
import { findDeparture } from '../../src/db/hosts/host-cordon.ts'
import type { Env } from '../../src/env.ts'
import type { Alarms } from '../alarms.ts'
import type { HostHistory } from './history/history.ts'
import type { HostLinks } from './links.ts'
import type { HostPods } from './pods/pods.ts'
import type { HostReports } from './reports.ts'
import type { WorkloadStore } from './workload-store.ts'

/** A removal that was announced is looked at after this: no request runs that long. */
const LOOK_AFTER_MS = 60_000
/** What could not be given up is tried again after this. */
const RETRY_MS = 5_000
const REASON = 'removed by the operator'

/** Timer of the host object that is about its removal. */
export const REMOVAL_TIMER = 'removal'

export interface HostRemovalDeps {
  env: Env
  store: WorkloadStore
  links: HostLinks
  pods: HostPods
  reports: HostReports
  history: HostHistory
  alarms: Alarms
  now(): number
  /** When the host was last heard of, milliseconds since the epoch. */
  lastHeardMs(): number
}

/** The end of a machine: everything on it is given up, however often that takes, because nobody else will ever look at it again. */
export class HostRemoval {
  private readonly deps: HostRemovalDeps

  constructor(deps: HostRemovalDeps) {
    this.deps = deps
  }

  /** The enrolment is about to be withdrawn; to be followed by `revoke`, and if the caller dies before, the timer looks. */
  async expect(): Promise<void> {
    await this.deps.alarms.setBy(REMOVAL_TIMER, this.deps.now() + LOOK_AFTER_MS)
  }

  /** The enrolment was withdrawn: the agent stops everything and leaves, and owners stop waiting for what the machine held. What throws is done again. */
  async revoke(hostId: string): Promise<void> {
    const { env, store, links, pods, reports, history, alarms, now, lastHeardMs } = this.deps
    store.setRevoked(REASON)
    links.broadcast({ type: 'revoked', reason: REASON })
    links.closeAll(4001, 'revoked')
    history.clear()
    const retry = { name: REMOVAL_TIMER, dueAtMs: now() + RETRY_MS }
    await alarms.set(retry.name, retry.dueAtMs)
    await pods.leaveRemoved(hostId)
    await reports.giveUpAll(hostId, lastHeardMs())
    await endDiskChargesOn(openDatabase(env.DB), hostId, lastHeardMs())
    alarms.clear(retry)
  }

  /** Finishes a removal that was begun, if it was. */
  async look(hostId: string): Promise<void> {
    if ((await findDeparture(openDatabase(this.deps.env.DB), hostId)) === null) await this.revoke(hostId)
  }
}
