import { openDatabase } from '../../../src/db/client.ts'
import { type PodRow, releaseCompute } from '../../../src/db/pods/pods.ts'
import { isToRun } from '../../../src/domain/pod/pod.ts'
import { type DesiredContainer, generationOf } from '../../../src/domain/pod/workloads.ts'
import { noteUnknownSecrets } from '../../../src/effects/pods/pod-notes.ts'
import { isDown, releasePod } from '../../../src/effects/pods/pod-reports.ts'
import { applyDesired, podWorkload } from '../../../src/effects/pods/pod-spec.ts'
import { refuseBytes } from '../../../src/effects/secret-env.ts'
import type { Env } from '../../../src/env.ts'
import { Workload } from '../../../src/host-protocol/messages.ts'
import type { DesiredState } from '../desired-state.ts'
import type { HostWorkload, WorkloadStore } from '../workload-store.ts'

export interface PodWorkloadsDeps {
  storage: DurableObjectStorage
  env: Env
  store: WorkloadStore
  desired: DesiredState
}

/** The workloads of one host's pods, as the host should have them. */
export class PodWorkloads {
  private readonly deps: PodWorkloadsDeps

  constructor(deps: PodWorkloadsDeps) {
    this.deps = deps
  }

  /** The host's workloads of a pod, by generation. */
  known(podId: string): Map<number, HostWorkload> {
    const rows = this.deps.store.ownedBy(podId).flatMap((row) => {
      const generation = generationOf(podId, row.workload.id)
      return generation === null ? [] : [[generation, row] as const]
    })
    return new Map(rows)
  }

  /**
   * The workload of a container. A new one is made with the secrets of its start; a known one keeps them, whatever changes later (ACC-6).
   */
  async of(
    pod: PodRow | null,
    podId: string,
    container: DesiredContainer,
    known: Map<number, HostWorkload>,
  ): Promise<{ ok: true; workload: Workload } | { ok: false; reason: string } | null> {
    const previous = known.get(container.generation)
    if (previous) return { ok: true, workload: applyDesired(previous.workload, podId, container) }
    const { env, store } = this.deps
    const made = pod && (await podWorkload(env, pod, container))
    if (!pod || !made?.ok) return made
    const excess = made.hasSecrets ? await refuseBytes(env, pod.teamId, store.bytesOfAccount(pod.teamId), made.workload) : null
    if (excess !== null) return { ok: false, reason: excess }
    const log = { kind: 'pod', id: podId, ownerId: podId, start: container.generation, dataCenterId: pod.dataCenterId } as const
    await noteUnknownSecrets(env, log, made.unknownSecrets)
    return made
  }

  /** Adds workloads to the desired state; returns whether that changed any. */
  async setDesired(podId: string, wanted: readonly Workload[], known: Map<number, HostWorkload>): Promise<boolean> {
    const { desired, storage, store } = this.deps
    const present = new Map([...known.values()].map(({ workload }) => [workload.id, textOf(workload)]))
    const changed = wanted.filter((workload) => present.get(workload.id) !== textOf(workload))
    // A container that was reported gone meanwhile must not return to the desired state.
    const isThere = (id: string) => !present.has(id) || store.get(id) !== null
    for (const workload of changed) await desired.setWorkload(storage, workload, podId, () => isThere(workload.id))
    return changed.length > 0
  }

  /** Releases capacity reserved for workloads that were never sent to the host, which will never report them as gone. */
  async releaseUnsent(hostId: string, podId: string, pod: PodRow | null, known: Map<number, HostWorkload>): Promise<void> {
    // Capacity is reserved in the transaction that writes the row: without a row there is none.
    if (pod === null) return
    const db = openDatabase(this.deps.env.DB)
    const isHere = pod.hostId === hostId && pod.status !== 'TERMINATED'
    if (!isHere) {
      if (known.size === 0) await releasePod(db, podId, hostId)
    } else if (!isToRun(pod) && !known.has(pod.generation) && [...known.values()].every(({ state }) => isDown(state))) {
      await releaseCompute(db, podId, hostId, pod.generation)
    }
  }
}

// Parsed, so that fields have one order and equal workloads have equal texts.
function textOf(workload: Workload): string {
  return JSON.stringify(Workload.parse(workload))
}
