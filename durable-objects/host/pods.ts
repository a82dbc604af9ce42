import { openDatabase } from '../../src/db/client.ts'
import { findPodForHost, type PodRow, releaseCompute } from '../../src/db/pods.ts'
import { isToRun } from '../../src/domain/pod.ts'
import { type ContainerWish, containerWishes, generationOf } from '../../src/domain/pod-workloads.ts'
import type { Env } from '../../src/env.ts'
import { Workload } from '../../src/host-protocol/messages.ts'
import { isDown, releasePod } from '../../src/services/pod-reports.ts'
import { applyWish, podWorkload } from '../../src/services/pod-spec.ts'
import { PodMarks } from './pod-marks.ts'
import type { HostWorkload, WorkloadStore } from './workload-store.ts'

/** A request that marked a pod has ended, or was ended by the platform, after this. */
const MARK_TTL_MS = 120_000

/** The pods of one host: what it is to run for them is derived from their rows in D1. */
export class HostPods {
  readonly marks: PodMarks
  private readonly storage: DurableObjectStorage
  private readonly env: Env
  private readonly store: WorkloadStore
  /** Looks at one pod follow one another, so that an older row is never put in force after a newer one. */
  private readonly looking = new Map<string, Promise<boolean>>()

  constructor(ctx: DurableObjectState, env: Env, store: WorkloadStore) {
    this.storage = ctx.storage
    this.env = env
    this.store = store
    this.marks = new PodMarks(ctx.storage.sql)
  }

  /** Reads a pod's row and puts in force what it says. True when that changed what the host is to run. */
  async sync(hostId: string, podId: string): Promise<boolean> {
    const before = this.looking.get(podId) ?? Promise.resolve(false)
    const look = before.catch(() => false).then(() => this.look(hostId, podId))
    this.looking.set(podId, look)
    try {
      return await look
    } finally {
      if (this.looking.get(podId) === look) this.looking.delete(podId)
    }
  }

  /** Looks at every pod that somebody marked and may have died over. True when anything changed. */
  async syncMarked(hostId: string, nowMs: number): Promise<boolean> {
    let hasChanged = false
    for (const podId of this.marks.all()) hasChanged = (await this.sync(hostId, podId)) || hasChanged
    this.marks.removeOlderThan(nowMs - MARK_TTL_MS)
    return hasChanged
  }

  private async look(hostId: string, podId: string): Promise<boolean> {
    const row = await findPodForHost(openDatabase(this.env.DB), podId)
    const pod = row?.hostId === hostId ? row : null
    const known = this.knownOf(podId)
    const wanted: Workload[] = []
    for (const wish of containerWishes(pod, [...known.keys()])) {
      const workload = await this.workloadOf(pod, podId, wish, known)
      if (workload) wanted.push(workload)
    }
    const hasChanged = this.want(podId, wanted, known)
    await this.returnUnused(hostId, podId, row, known)
    return hasChanged
  }

  private knownOf(podId: string): Map<number, HostWorkload> {
    const rows = this.store.ownedBy(podId).flatMap((row) => {
      const generation = generationOf(podId, row.workload.id)
      return generation === null ? [] : [[generation, row] as const]
    })
    return new Map(rows)
  }

  private async workloadOf(pod: PodRow | null, podId: string, wish: ContainerWish, known: Map<number, HostWorkload>) {
    const former = known.get(wish.generation)
    if (former) return applyWish(former.workload, podId, wish)
    return pod && podWorkload(this.env, pod, wish)
  }

  private want(podId: string, wanted: readonly Workload[], known: Map<number, HostWorkload>): boolean {
    const present = new Map([...known.values()].map(({ workload }) => [workload.id, textOf(workload)]))
    // A container that was reported gone meanwhile must not come back into the desired state.
    const isGone = (id: string) => present.has(id) && this.store.get(id) === null
    const changed = wanted.filter((workload) => present.get(workload.id) !== textOf(workload) && !isGone(workload.id))
    this.storage.transactionSync(() => {
      for (const workload of changed) this.store.want(workload, podId)
    })
    return changed.length > 0
  }

  // What a host was never told of will never be reported as gone by it.
  private async returnUnused(hostId: string, podId: string, pod: PodRow | null, known: Map<number, HostWorkload>): Promise<void> {
    const db = openDatabase(this.env.DB)
    const isHere = pod !== null && pod.hostId === hostId && pod.status !== 'TERMINATED'
    if (!isHere) {
      if (known.size === 0) await releasePod(db, podId, hostId)
    } else if (!isToRun(pod) && !known.has(pod.generation) && [...known.values()].every(({ state }) => isDown(state))) {
      await releaseCompute(db, podId, hostId, pod.generation)
    }
  }
}

// Parsed, so that members stand in one order and equal ones read equal.
function textOf(workload: Workload): string {
  return JSON.stringify(Workload.parse(workload))
}
