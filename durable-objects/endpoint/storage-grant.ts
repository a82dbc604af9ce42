import { describeExcess } from '../../src/contract/accounts/budgets.ts'
import { openDatabase } from '../../src/db/client.ts'
import { type Grant, grantBytes } from '../../src/db/endpoints/granted-bytes.ts'
import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import { bytesToStore, grantsToAskFor, grantToRetain, REFUSED_MS, roomLeft } from '../../src/domain/job/storage-grant.ts'
import type { Env } from '../../src/env.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Refused } from '../../src/queue/accept.ts'

const KEY = 'grantedBytes'
const RETRY_SECONDS = '60'

/**
 * The part of its team's storage quota that an endpoint's queue may fill (BUDGET-3). D1 stores the sums; the object stores its own grant.
 */
export class StorageGrant {
  private readonly env: Env
  private readonly storage: DurableObjectStorage
  private readonly now: () => number
  /** Bytes that may be stored before the database size is measured again. */
  private leftBytes = 0
  private refused: { refusal: Refused; bytes: number; untilMs: number } | null = null
  private asking: Promise<void> = Promise.resolve()

  constructor(env: Env, storage: DurableObjectStorage, now: () => number) {
    this.env = env
    this.storage = storage
    this.now = now
  }

  /** Takes space for a text from the existing grant, without a call to D1; false when there is none. */
  takeAtHand(chars: number): boolean {
    const bytes = bytesToStore(chars)
    if (this.hasLeft(bytes)) return true
    this.leftBytes = roomLeft(this.granted(), this.storage.sql.databaseSize)
    return this.hasLeft(bytes)
  }

  /** Takes space for a text, or returns the refusal. Queries D1 only when the grant is used up. */
  async take(config: EndpointConfig, chars: number): Promise<Refused | null> {
    const bytes = bytesToStore(chars)
    if (this.hasLeft(bytes)) return null
    if (this.refused && this.now() < this.refused.untilMs && bytes >= this.refused.bytes) return this.refused.refusal
    // Serialized, so that concurrent calls cause one query.
    const turn = this.asking.then(() => (this.hasLeft(bytes) ? null : this.ask(config, bytes)))
    this.asking = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  /** Returns the part of the grant that the queue does not need. */
  async trim(config: EndpointConfig): Promise<void> {
    const keep = grantToRetain(this.storage.sql.databaseSize, this.granted())
    if (keep === null) return
    try {
      await grantBytes(openDatabase(this.env.DB), config.teamId, config.id, keep)
      this.storage.kv.put(KEY, keep)
      this.leftBytes = 0
    } catch (error) {
      logEvent('warn', 'a queue could not give back its storage', { endpointId: config.id, error })
    }
  }

  private hasLeft(bytes: number): boolean {
    if (bytes > this.leftBytes) return false
    this.leftBytes -= bytes
    return true
  }

  private async ask(config: EndpointConfig, bytes: number): Promise<Refused | null> {
    const needed = this.storage.sql.databaseSize + bytes
    let refusal: Extract<Grant, { ok: false }> | null = null
    for (const wanted of grantsToAskFor(needed, this.granted())) {
      const grant = await grantBytes(openDatabase(this.env.DB), config.teamId, config.id, wanted)
      refusal = grant.ok ? null : grant
      if (!grant.ok) continue
      this.storage.kv.put(KEY, wanted)
      break
    }
    if (refusal) return this.refuse(refusal, bytes)
    this.leftBytes = roomLeft(this.granted(), needed)
    return null
  }

  private refuse({ used, bound }: { used: number; bound: number }, bytes: number): Refused {
    const detail = describeExcess('queuedBytes', used, bytes, bound)
    const refusal: Refused = { key: 'rateLimited', detail, headers: { 'retry-after': RETRY_SECONDS } }
    this.refused = { refusal, bytes, untilMs: this.now() + REFUSED_MS }
    return refusal
  }

  private granted(): number {
    return this.storage.kv.get<number>(KEY) ?? 0
  }
}
