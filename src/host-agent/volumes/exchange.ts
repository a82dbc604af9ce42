import { VOLUMES_MAX, type VolumeRef, type VolumesRequest, type VolumesResponse } from '../../host-protocol/volumes.ts'
import { sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import type { VolumeMeter } from './measure.ts'
import type { VolumeHome } from './volume-home.ts'

const INTERVAL_MS = 20_000
const JITTER = 0.2

export interface ExchangeDeps {
  roots: readonly VolumeHome[]
  meter: Pick<VolumeMeter, 'take' | 'putBack'>
  /** Sends a request to the plane; undefined when that failed. */
  send(request: VolumesRequest): Promise<VolumesResponse | undefined>
  /** Returns the ids of volumes that a container of this host may have open; undefined: not known yet. */
  inUse(): ReadonlySet<string> | undefined
  /** Applies the desired sizes of volumes. */
  onSizes(sizes: VolumesResponse['sizes']): Promise<void>
  /** Returns the volumes whose size this host can enforce. */
  held(): Promise<readonly string[]>
  log: Log
  intervalMs?: number
}

/** Reports the use of this host's volumes to the plane, and wipes deleted volumes (HOST-113, HOST-114). */
export class VolumeExchange {
  private readonly deps: ExchangeDeps
  private readonly closing = new AbortController()
  private since: number | null = null
  private readonly wiped = new Map<string, VolumeRef>()
  /** Index at which the next part of `held` starts. */
  private offset = 0

  constructor(deps: ExchangeDeps) {
    this.deps = deps
  }

  start(): void {
    void this.run()
  }

  close(): void {
    this.closing.abort()
  }

  /** Sends one request and carries out the answer. A failed request has no effect. */
  async round(): Promise<void> {
    const { meter, send, onSizes } = this.deps
    const used = meter.take(VOLUMES_MAX)
    const wiped = [...this.wiped.values()].slice(0, VOLUMES_MAX)
    const held = this.part(await this.deps.held())
    const answer = await send({ kinds: this.deps.roots.map(({ kind }) => kind), since: this.since, wiped, used, held })
    if (answer === undefined) return meter.putBack(used)
    for (const { kind, id } of wiped) this.wiped.delete(`${kind} ${id}`)
    await onSizes(answer.sizes)
    // `since` advances only when every wipe is done; otherwise the next request returns the same volumes again.
    if (await this.wipeAll(answer.wipe)) this.since = answer.nowMs
  }

  private async run(): Promise<void> {
    const { signal } = this.closing
    const interval = this.deps.intervalMs ?? INTERVAL_MS
    while (!signal.aborted) {
      await this.round().catch((error: unknown) => this.deps.log.warn('volumes could not be reconciled', { error: errorText(error) }))
      await sleep(interval * (1 - JITTER + 2 * JITTER * Math.random()), signal)
    }
  }

  private async wipeAll(refs: readonly VolumeRef[]): Promise<boolean> {
    let isDone = true
    for (const ref of refs) {
      if (this.closing.signal.aborted) return false
      const root = this.deps.roots.find(({ kind }) => kind === ref.kind)
      // A volume that a container still uses is wiped after that container has ended.
      const isFree = this.deps.inUse()?.has(ref.id) === false
      const outcome = root !== undefined && isFree ? await root.wipe(ref.id) : 'later'
      if (outcome === 'gone') this.wiped.set(`${ref.kind} ${ref.id}`, ref)
      else isDone = false
    }
    return isDone
  }

  private part(ids: readonly string[]): string[] {
    if (this.offset >= ids.length) this.offset = 0
    const part = ids.slice(this.offset, this.offset + VOLUMES_MAX)
    this.offset += VOLUMES_MAX
    return part
  }
}
