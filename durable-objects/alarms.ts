import { logEvent } from '../src/platform/log.ts'
import { watchSteps } from './clock/step-watch.ts'
import type { Timers } from './clock/timers.ts'
import { hasTables } from './sql-migrations.ts'

/** A stored deadline of an object; the object's one alarm is due at the earliest. */
export interface Timer {
  name: string
  dueAtMs: number
}

/** Several named timers that share the single alarm of a Durable Object. Timers are rows, so they survive a restart of the object. */
export class Alarms {
  private readonly storage: DurableObjectStorage

  /** `ALARMS_SCHEMA`, the table of this class, must be a step of the object's schema. `stepped` is called after each clock step. */
  constructor(storage: DurableObjectStorage, timers: Timers, stepped: (stepMs: number) => void = () => {}) {
    this.storage = storage
    watchSteps(timers, {
      stepped: (stepMs) => {
        this.stepped(stepMs)
        stepped(stepMs)
      },
    })
  }

  // A clock that was set back delays no timer (CLK-5). An alarm that then fires too early finds no due timer and is armed again.
  private stepped(stepMs: number): void {
    if (!hasTables(this.storage)) return
    this.storage.sql.exec('UPDATE timers SET due_at = due_at + ?', stepMs)
    void this.arm().catch((error: unknown) => logEvent('warn', 'an alarm could not be set anew', { error }))
  }

  /** Sets a timer, milliseconds since the epoch; an earlier setting of the same name is replaced. */
  async set(name: string, dueAtMs: number): Promise<void> {
    this.storage.sql.exec('INSERT OR REPLACE INTO timers (name, due_at) VALUES (?, ?)', name, dueAtMs)
    await this.arm()
  }

  /** Sets a timer unless it is already due earlier. */
  async setBy(name: string, dueAtMs: number): Promise<void> {
    const known = this.dueAt(name)
    if (known === null || known > dueAtMs) await this.set(name, dueAtMs)
  }

  /** Timers that are due. They stay set until `clear`, so a crash while handling one repeats it. */
  due(nowMs: number): Timer[] {
    const rows = this.storage.sql.exec('SELECT name, due_at FROM timers WHERE due_at <= ? ORDER BY due_at', nowMs).toArray()
    return rows.map((row) => ({ name: String(row.name), dueAtMs: Number(row.due_at) }))
  }

  /** Removes a handled timer, unless it was set to another time meanwhile. */
  clear({ name, dueAtMs }: Timer): void {
    this.storage.sql.exec('DELETE FROM timers WHERE name = ? AND due_at = ?', name, dueAtMs)
  }

  /** Sets the object's alarm to the earliest timer. */
  async arm(): Promise<void> {
    const next = this.storage.sql.exec('SELECT MIN(due_at) AS due_at FROM timers').one().due_at
    if (next === null) return
    const dueAtMs = Number(next)
    if ((await this.storage.getAlarm()) !== dueAtMs) await this.storage.setAlarm(dueAtMs)
  }

  private dueAt(name: string): number | null {
    const row = this.storage.sql.exec('SELECT due_at FROM timers WHERE name = ?', name).toArray()[0]
    return row ? Number(row.due_at) : null
  }
}

export const ALARMS_SCHEMA = 'CREATE TABLE timers (name TEXT PRIMARY KEY, due_at INTEGER NOT NULL) WITHOUT ROWID;'
