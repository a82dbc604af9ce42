import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import type { Job } from '../../src/domain/job/job.ts'
import type { QueueNote } from '../../src/domain/job/record.ts'
import type { Env, Settings } from '../../src/env.ts'
import type { Vault } from '../../src/platform/seal.ts'
import type { Tx } from '../../src/queue/tx.ts'
import type { AuditOutbox } from '../audit-outbox.ts'
import type { Timers } from '../clock/timers.ts'
import type { CallLimits } from './call-limits.ts'
import type { ChannelHosts } from './channel-hosts.ts'
import type { Outbox } from './outbox.ts'
import type { Parking } from './parking.ts'
import type { Slots } from './slots.ts'
import type { StorageGrant } from './storage-grant.ts'
import type { SqlState } from './store/sql-state.ts'

/**
 * Parts of an endpoint object. A function names those that it uses; the object's core has them all, and only the object itself knows the
 * core.
 */

/** The rows, for reading. */
export interface Rows {
  /** Whether the object stores anything. */
  readonly isStored: boolean
  readonly state: SqlState
  /** Configuration of the endpoint; null when it is deleted. */
  config(): EndpointConfig | null
}

/** The only way to change the rows. */
export interface Commits {
  /** Runs one operation in the next commit. Resolves after the commit; an operation that throws rolls back only itself. */
  transact<T>(run: (tx: Tx) => T): Promise<T>
}

/** Jobs as their callers see them. */
export interface Jobs {
  /** A job by its id, after due transitions. */
  findJob(jobId: string): Promise<Job | null>
  /** STA-2: the reason why jobs of this priority wait. */
  queueNote(lowPriority: boolean): QueueNote | undefined
}

/** Time for the parts of an endpoint object. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly timers: Timers
}

/** The world outside the object. */
export interface Outside {
  readonly env: Env
  readonly settings: Settings
}

/** Work that goes on after its reply. */
export interface Background {
  readonly ctx: Pick<DurableObjectState, 'waitUntil'>
}

/** Requests that wait: takes, stop polls and clients. */
export interface Waiting {
  readonly parking: Parking
}

/** The open worker channels, by host. */
export interface Channels {
  readonly channelHosts: ChannelHosts
}

/** Durations of waits, in milliseconds. */
export interface Paced {
  readonly pace: {
    /** Silence after which an event stream sends a comment (OAI-6). */
    keepaliveMs: number
    /** Time that a request waits for a worker (LB-6). */
    slotWaitMs: number
  }
}

/** Requests of a load-balancing endpoint. */
export interface Serving {
  readonly slots: Slots
}

/** Limits of the callers (LIM-1). */
export interface Limits {
  readonly limits: CallLimits
}

/** Space for texts within the quota of the team (BUDGET-3). */
export interface Room {
  readonly grant: StorageGrant
}

/** The vault that opens the sealed values of an endpoint. */
export interface Secrets {
  readonly vault: Vault
}

/** Rows on their way to other objects and to D1. */
export interface Outboxes {
  readonly outbox: Outbox
  readonly audit: AuditOutbox
}

/** Placements and removals of workers. */
export interface Placing {
  readonly placing: {
    /** Workers with an external call in progress. */
    readonly inFlight: Set<string>
    /** Count of notices of new capacity: a placement that a notice overtakes is retried at once. */
    capacityChanges: number
  }
}
