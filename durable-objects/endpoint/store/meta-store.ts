import { openContainer, type Sealed, sealContainer } from '../../../src/db/sealed-env.ts'
import type { EndpointConfig } from '../../../src/domain/endpoint/record.ts'
import type { CapacitySeeker } from '../../../src/domain/preemption/offers.ts'
import { legacyGrants } from '../../../src/domain/resources/secret-grants.ts'
import type { Place, Vault } from '../../../src/platform/seal.ts'
import type { AlarmTrust, LaunchState, MetaValues, Totals } from '../../../src/queue/state.ts'
import type { Undo } from './undo.ts'

/** Seals values of the object, bound to this object. */
export interface MetaSeal {
  vault: Vault
  /** Id of the object. */
  place: string
}

interface StoredTotals extends Totals {
  /** The highest number of a completed job, valid as long as as many have completed. */
  newest?: { seq: number; completed: number }
  /** When the last job ended. */
  lastEndMs?: number
}

/** The alarm while agents answer for workers, milliseconds since the epoch. */
type TrustedAlarm = AlarmTrust & { atMs: number }

interface Entry {
  text: string
  value: unknown
}

/** The small values of an endpoint object, cached parsed in memory (every call reads some) and written once per commit. */
export class MetaStore implements MetaValues {
  private readonly sql: SqlStorage
  private readonly cache = new Map<string, Entry>()
  private readonly seal: MetaSeal
  private readonly undo: Undo
  private openConfig: EndpointConfig | null = null
  /** Keys that the current commit has changed; null outside a commit, when values are written at once. */
  private changed: Set<string> | null = null

  constructor(sql: SqlStorage, seal: MetaSeal, undo: Undo) {
    this.sql = sql
    this.seal = seal
    this.undo = undo
    for (const row of sql.exec('SELECT key, value FROM meta /* plan: a dozen rows, read once */').toArray())
      this.keep(String(row.key), String(row.value))
  }

  /** Called at the start of every commit. */
  begin(): void {
    this.changed = new Set()
  }

  /** Called after a rolled-back commit. */
  abandon(): void {
    this.changed = null
  }

  /** Called at the very end of every commit. */
  end(): void {
    for (const key of this.changed ?? []) this.store(key)
    this.changed = null
  }

  config(): EndpointConfig | null {
    const kept = this.read<Sealed<EndpointConfig>>('config')
    if (kept) this.openConfig ??= openContainer<EndpointConfig>(this.seal.vault, this.configPlace(), kept)
    return this.openConfig
  }

  /** The endpoint's id, available even when its configuration cannot be opened. */
  endpointId(): string | null {
    return this.read<Sealed<EndpointConfig>>('config')?.id ?? null
  }

  setConfig(config: EndpointConfig): void {
    // A configuration of a release without grants gets the grants that its environment variables imply (CAP-12).
    const { secretGrants = legacyGrants(config.container.env), ...container } = config.container
    const granted = { ...config, container: { ...container, ...(secretGrants && { secretGrants }) } }
    this.write('config', sealContainer(this.seal.vault, this.configPlace(), granted))
    this.openConfig = null
  }

  deleted(): boolean {
    return this.cache.has('deleted')
  }

  setDeleted(): void {
    this.write('deleted', true)
  }

  suspended(): boolean {
    return this.read<boolean>('suspended') ?? false
  }

  setSuspended(isSuspended: boolean): void {
    this.write('suspended', isSuspended)
  }

  /** 48 random bits in two halves that hide how many jobs an endpoint has had (see `src/domain/job/id.ts`). */
  idMask(): readonly [number, number] {
    const known = this.read<[number, number]>('idMask')
    if (known) return known
    const random = crypto.getRandomValues(new Uint32Array(2))
    const mask: [number, number] = [(random[0] ?? 0) & 0xffffff, (random[1] ?? 0) & 0xffffff]
    this.write('idMask', mask)
    return mask
  }

  totals(): Totals {
    const { newest: _, lastEndMs: __, ...totals } = this.storedTotals()
    return totals
  }

  add(name: keyof Totals, by = 1, endedAtMs: number | null = null): void {
    const totals = this.storedTotals()
    this.write('totals', { ...totals, [name]: totals[name] + by, ...(endedAtMs !== null && { lastEndMs: endedAtMs }) })
  }

  /** When a job ended last; null: unknown. */
  lastEndMs(): number | null {
    return this.storedTotals().lastEndMs ?? null
  }

  /** No job with a higher sequence number has completed; null: unknown, because the last ones completed in a release that notes none. */
  newestCompleted(): number | null {
    const { newest, completed } = this.storedTotals()
    if (completed === 0) return 0
    return newest?.completed === completed ? newest.seq : null
  }

  /** Notes that no job above `seq` has completed so far. It is beside the totals, whose row each end of a job writes anyway. */
  setNewestCompleted(seq: number): void {
    const totals = this.storedTotals()
    this.write('totals', { ...totals, newest: { seq, completed: totals.completed } })
  }

  private storedTotals(): StoredTotals {
    return this.read<StoredTotals>('totals') ?? { completed: 0, failed: 0, retried: 0, superseded: 0 }
  }

  launch(): LaunchState {
    return this.read<LaunchState>('launch') ?? { failures: 0, notBeforeMs: 0 }
  }

  setLaunch(state: LaunchState): void {
    this.write('launch', state)
  }

  /** Whether the endpoint may be in the list of capacity waiters. */
  waitsForCapacity(): boolean {
    return this.read<boolean>('waitsForCapacity') ?? false
  }

  setWaitsForCapacity(waits: boolean): void {
    this.write('waitsForCapacity', waits)
  }

  /** Endpoints whose request for capacity this one could not fulfil (PREEMPT-3). */
  capacitySeekers(): readonly CapacitySeeker[] {
    return this.read<CapacitySeeker[]>('roomSeekers') ?? []
  }

  setCapacitySeekers(seekers: readonly CapacitySeeker[]): void {
    this.write('roomSeekers', seekers)
  }

  /** Time for which the alarm was last set, to distinguish an outage of the plane from silent workers. */
  alarmAtMs(): number | null {
    return this.trustedAlarm()?.atMs ?? this.read<number>('alarmAt')
  }

  /** The trust in which it was set (CHN-30). */
  alarmTrust(): AlarmTrust | null {
    const alarm = this.trustedAlarm()
    return alarm && { hosts: alarm.hosts, setAtMs: alarm.setAtMs }
  }

  /** The previous release would take an alarm that is far ahead for a step of the clock; it reads none, and sets its own. */
  setAlarmAtMs(atMs: number | null, trust: AlarmTrust | null = null): void {
    const trusted = atMs === null || trust === null ? null : { atMs, ...trust }
    this.write('alarmAt', trusted === null ? atMs : null)
    if (trusted !== null || this.trustedAlarm() !== null) this.write('trustedAlarm', trusted)
  }

  private trustedAlarm(): TrustedAlarm | null {
    return this.read<TrustedAlarm>('trustedAlarm')
  }

  private configPlace(): Place {
    return ['endpoint object', this.seal.place, 'config']
  }

  private read<T>(key: string): T | null {
    return (this.cache.get(key)?.value as T | undefined) ?? null
  }

  private write(key: string, value: unknown): void {
    const text = JSON.stringify(value)
    const before = this.cache.get(key)
    if (before?.text === text) return
    this.undo.note(() => this.takeBack(key, before))
    this.keep(key, text)
    if (this.changed) this.changed.add(key)
    else this.store(key)
  }

  private takeBack(key: string, before: Entry | undefined): void {
    this.openConfig = null
    if (before) this.cache.set(key, before)
    else this.cache.delete(key)
  }

  private store(key: string): void {
    const text = this.cache.get(key)?.text
    if (text !== undefined) this.sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, text)
  }

  // Parsed again instead of stored as given, so that no caller holds a reference to the cached value.
  private keep(key: string, text: string): void {
    this.cache.set(key, { text, value: JSON.parse(text) })
  }
}
