import { performance } from 'node:perf_hooks'
import type { VolumeUse } from '../../host-protocol/volumes.ts'
import { sleep } from '../../node/backoff.ts'
import type { VolumeHome } from './volume-home.ts'

/** Minimum interval between two measurements of a volume. */
const FRESH_MS = 600_000
/** Each measurement is followed by a pause of this many times its duration, so that the disk is read only for a small part of the time. */
const PAUSE_FACTOR = 20
const ROUND_MS = 15_000

/** Returns the use counted by the file system itself; undefined where it does not count. */
export type CountedBytes = (root: VolumeHome, id: string) => Promise<{ bytes: number; enforced: boolean } | undefined>

/** Measures the use of this host's volumes, one at a time and slowly (HOST-114). */
export class VolumeMeter {
  private readonly roots: readonly VolumeHome[]
  private readonly counted: CountedBytes
  private readonly closing = new AbortController()
  /** Time of the last measurement of each volume, by the monotonic clock in ms. */
  private readonly checkedAt = new Map<string, number>()
  private readonly found = new Map<string, VolumeUse>()

  constructor(roots: readonly VolumeHome[], counted: CountedBytes = async () => undefined) {
    this.roots = roots
    this.counted = counted
  }

  start(): void {
    void this.run()
  }

  close(): void {
    this.closing.abort()
  }

  /** Returns and removes at most `limit` measurements that were not taken yet. */
  take(limit: number): VolumeUse[] {
    const taken = [...this.found.values()].slice(0, limit)
    for (const { kind, id } of taken) this.found.delete(`${kind} ${id}`)
    return taken
  }

  /** Takes back measurements that could not be sent; newer ones replace them. */
  putBack(uses: readonly VolumeUse[]): void {
    for (const use of uses) if (!this.found.has(`${use.kind} ${use.id}`)) this.found.set(`${use.kind} ${use.id}`, use)
  }

  private async run(): Promise<void> {
    const { signal } = this.closing
    while (!signal.aborted) {
      for (const root of this.roots) for (const id of (await root.list()) ?? []) await this.measureVolume(root, id)
      await sleep(ROUND_MS, signal)
    }
  }

  private async measureVolume(root: VolumeHome, id: string): Promise<void> {
    if (this.closing.signal.aborted) return
    const name = `${root.kind} ${id}`
    const startedAt = performance.now()
    if (startedAt - (this.checkedAt.get(name) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return
    this.checkedAt.set(name, startedAt)
    const use = (await this.counted(root, id)) ?? (await root.measure(id))
    if (use !== undefined) this.found.set(name, { kind: root.kind, id, ...use })
    await sleep((performance.now() - startedAt) * PAUSE_FACTOR, this.closing.signal)
  }
}
