import type { QueueNotes } from '../../../src/queue/queue-notes.ts'
import type { AuditOutbox } from '../../audit-outbox.ts'
import { hasTables } from '../../sql-migrations.ts'
import type { Outbox } from '../outbox.ts'
import type { Clock } from '../parts.ts'
import type { SqlState } from '../store/sql-state.ts'
import type { Alarm } from './alarm.ts'
import { DELETE_AFTER_MS } from './deletion.ts'

/** Components that use the rows of an object. */
export interface Opened {
  readonly state: SqlState
  readonly outbox: Outbox
  readonly audit: AuditOutbox
  readonly alarm: Alarm
  readonly notes: QueueNotes
}

/**
 * The rows of an object. Tables are created on the first write: an object whose endpoint is deleted stores nothing, whichever call reaches
 * it.
 */
export class StoredRows {
  private readonly storage: DurableObjectStorage
  private readonly clock: Pick<Clock, 'now'>
  private readonly create: () => Opened
  private opened: Opened | null = null

  /** `create` creates the tables that are missing. */
  constructor(storage: DurableObjectStorage, clock: Pick<Clock, 'now'>, create: () => Opened) {
    this.storage = storage
    this.clock = clock
    this.create = create
  }

  /** Null while the object stores nothing. */
  get present(): Opened | null {
    return this.opened
  }

  /** Called once when the object starts: opens the tables of an earlier life. */
  openExisting(): void {
    if (hasTables(this.storage)) this.open()
  }

  /** For a write. */
  open(): Opened {
    this.opened ??= this.create()
    return this.opened
  }

  /** For a read. A call that was in progress during the deletion finds empty tables; the alarm deletes them again. */
  read(): Opened {
    if (this.opened) return this.opened
    void this.storage.setAlarm(this.clock.now() + DELETE_AFTER_MS)
    return this.open()
  }

  /** Deletes everything that the object stores. */
  async deleteAll(): Promise<void> {
    const gone = this.storage.deleteAll()
    this.opened = null
    await Promise.all([gone, this.storage.deleteAlarm()])
  }
}
