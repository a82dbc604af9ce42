import { logEvent } from '../src/platform/log.ts'
import { watchSteps } from './clock/step-watch.ts'
import type { Timers } from './clock/timers.ts'
import { hasTables } from './sql-migrations.ts'

/** A stored deadline of an object; the object's one alarm is due at the earliest. */
export interface Timer {
  name: string
  dueAtMs: number
}

/** Due time in the row of a repeated timer, long past; the real one is in memory. After a restart of the object it is due at once. */
const REPEATED = 1

/** Several named timers that share the single alarm of a Durable Object. Timers are rows, so they survive a restart of the object. */
export class Alarms {
  private readonly storage: DurableObjectStorage
  /** Due times of repeated timers. */
  private readonly repeated = new Map<string, number>()

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
    this.storage.sql.exec('UPDATE timers SET due_at = due_at + ? WHERE due_at <> ?', stepMs, REPEATED)
    for (const [name, dueAtMs] of this.repeated) this.repeated.set(name, dueAtMs + stepMs)
    void this.arm().catch((error: unknown) => logEvent('warn', 'an alarm could not be set anew', { error }))
  }

  /** Sets a timer, milliseconds since the epoch; an earlier setting of the same name is replaced. */
  async set(name: string, dueAtMs: number): Promise<void> {
    this.repeated.delete(name)
    this.write(name, dueAtMs)
    await this.arm()
  }

  /**
   * Sets a timer that is set again and again: moving it writes no row. After a restart of the object it is due with the next alarm, so its
   * handler must bear an early call.
   */
  async repeat(name: string, dueAtMs: number): Promise<void> {
    if (this.timers().find((timer) => timer.name === name)?.storedMs !== REPEATED) this.write(name, REPEATED)
    this.repeated.set(name, dueAtMs)
    await this.arm()
  }

  /** Sets a timer unless it is already due earlier. */
  async setBy(name: string, dueAtMs: number): Promise<void> {
    const known = this.dueAt(name)
    if (known === null || known > dueAtMs) await this.set(name, dueAtMs)
  }

  /** Timers that are due. They stay set until `clear`, so a crash while handling one repeats it. */
  due(nowMs: number): Timer[] {
    const due = this.timers().filter(({ dueAtMs }) => dueAtMs <= nowMs)
    return due.toSorted((a, b) => a.dueAtMs - b.dueAtMs)
  }

  /** Removes a handled timer, unless it was set to another time meanwhile. */
  clear({ name, dueAtMs }: Timer): void {
    if (this.dueAt(name) !== dueAtMs) return
    this.repeated.delete(name)
    this.storage.sql.exec('DELETE FROM timers WHERE name = ?', name)
  }

  /** Sets the object's alarm to the earliest timer. */
  async arm(): Promise<void> {
    const timers = this.timers()
    if (timers.length === 0) return
    const dueAtMs = Math.min(...timers.map((timer) => timer.dueAtMs))
    if ((await this.storage.getAlarm()) !== dueAtMs) await this.storage.setAlarm(dueAtMs)
  }

  private dueAt(name: string): number | null {
    return this.timers().find((timer) => timer.name === name)?.dueAtMs ?? null
  }

  private write(name: string, dueAtMs: number): void {
    this.storage.sql.exec('INSERT OR REPLACE INTO timers (name, due_at) VALUES (?, ?)', name, dueAtMs)
  }

  /** All timers; an object has about ten. */
  private timers(): (Timer & { storedMs: number })[] {
    const rows = this.storage.sql.exec('SELECT name, due_at FROM timers /* plan: an object has about ten */').toArray()
    return rows.map((row) => {
      const [name, storedMs] = [String(row.name), Number(row.due_at)]
      return { name, storedMs, dueAtMs: storedMs === REPEATED ? (this.repeated.get(name) ?? REPEATED) : storedMs }
    })
  }
}

export const ALARMS_SCHEMA = 'CREATE TABLE timers (name TEXT PRIMARY KEY, due_at INTEGER NOT NULL) WITHOUT ROWID;'
