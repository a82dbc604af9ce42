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
  /** Brings a request to the plane; undefined when that was not possible. */
  send(request: VolumesRequest): Promise<VolumesResponse | undefined>
  /** Ids of volumes that a container of this host may have open; undefined: it is not known yet. */
  inUse(): ReadonlySet<string> | undefined
  /** The sizes that volumes are to have. */
  onSizes(sizes: VolumesResponse['sizes']): Promise<void>
  /** Volumes whose size this host can enforce. */
  held(): Promise<readonly string[]>
  log: Log
  intervalMs?: number
}

/** Tells the plane what is in the volumes of this host, and wipes those that are deleted (HOST-113, HOST-114). */
export class VolumeExchange {
  private readonly deps: ExchangeDeps
  private readonly closing = new AbortController()
  private since: number | null = null
  private readonly wiped = new Map<string, VolumeRef>()
  /** Where the next part of `held` begins. */
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

  /** One question and what follows from the answer. Never fails. */
  async round(): Promise<void> {
    const { meter, send, onSizes } = this.deps
    const used = meter.take(VOLUMES_MAX)
    const wiped = [...this.wiped.values()].slice(0, VOLUMES_MAX)
    const held = this.part(await this.deps.held())
    const answer = await send({ kinds: this.deps.roots.map(({ kind }) => kind), since: this.since, wiped, used, held })
    if (answer === undefined) return meter.putBack(used)
    for (const { kind, id } of wiped) this.wiped.delete(`${kind} ${id}`)
    await onSizes(answer.sizes)
    // Whoever is asked for something that cannot be done yet is asked again: nothing of that time counts as worked through.
    if (await this.wipeAll(answer.wipe)) this.since = answer.nowMs
  }

  private async run(): Promise<void> {
    const { signal } = this.closing
    const interval = this.deps.intervalMs ?? INTERVAL_MS
    while (!signal.aborted) {
      await this.round().catch((error: unknown) => this.deps.log.warn('volumes could not be looked after', { error: errorText(error) }))
      await sleep(interval * (1 - JITTER + 2 * JITTER * Math.random()), signal)
    }
  }

  private async wipeAll(refs: readonly VolumeRef[]): Promise<boolean> {
    let isDone = true
    for (const ref of refs) {
      if (this.closing.signal.aborted) return false
      const root = this.deps.roots.find(({ kind }) => kind === ref.kind)
      // One that a container is still writing to goes when that has ended.
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
