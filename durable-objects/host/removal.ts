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

/** Delay after which an announced removal is checked: no request runs that long. */
const RECONCILE_AFTER_MS = 60_000
/** Delay before a failed removal is retried. */
const RETRY_MS = 5_000
const REASON = 'removed by the operator'

/** Timer of the host object for its removal. */
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
  /** Time of the host's last beat, milliseconds since the epoch. */
  lastHeardMs(): number
}

/** Removal of a host: everything on it is given up, with retries until it succeeds, because no other component will handle it. */
export class HostRemoval {
  private readonly deps: HostRemovalDeps

  constructor(deps: HostRemovalDeps) {
    this.deps = deps
  }

  /** Announces that the enrolment is about to be withdrawn. `revoke` follows; if the caller crashes before, the timer checks. */
  async expect(): Promise<void> {
    await this.deps.alarms.setBy(REMOVAL_TIMER, this.deps.now() + RECONCILE_AFTER_MS)
  }

  /**
   * Handles a withdrawn enrolment: the agent stops everything, and owners are notified that the host's workloads are gone. An error is
   * retried.
   */
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
  async check(hostId: string): Promise<void> {
    if ((await findDeparture(openDatabase(this.deps.env.DB), hostId)) === null) await this.revoke(hostId)
  }
}
