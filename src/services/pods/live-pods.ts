import { isToRun } from '../../domain/pod/pod.ts'
import { workloadIdOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import type { WorkloadStats } from '../../host-protocol/stats.ts'
import { hostOf, type OwnPod } from '../../objects/ownership/own.ts'
import { hostStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { inPieces } from '../../platform/yield-thread.ts'
import type { PodsOnHost } from '../../rpc/host.ts'

/** Timeout per host: the answer does not wait for a slower host, whose data is left out. */
const WAIT_MS = 1_000
/** Time after which no further host is asked: hosts are asked in groups, and many may be slow. */
const ALL_WAIT_MS = 3_000
/** Maximum number of hosts asked for one answer, because a request may make only a bounded number of calls. */
const MAX_HOSTS = 500
/** Pods per call, which takes a few milliseconds. */
const ASKED_AT_ONCE = 125
const NOTHING: PodsOnHost = { silentSinceMs: null, stats: [], idle: [] }

/** The live state of a pod as its host knows it. */
export interface LivePod {
  /** Last sign of life of a silent host; null for a host that is not silent (POD-23). */
  silentSinceMs: number | null
  stats: WorkloadStats | undefined
  /** Since when the pod has been idle (HIS-8); null: it is active, or its state is unknown. */
  idleSinceMs: number | null
}

/** Returns the live state of pods that are to run, by pod id: one call per host and no reads or writes of D1. */
export async function readLivePods(env: Env, pods: readonly OwnPod[]): Promise<Map<string, LivePod>> {
  const byHost = Map.groupBy(
    pods.filter(({ row }) => isToRun(row) && !row.hostLost),
    ({ row }) => row.hostId,
  )
  const asked = [...byHost].slice(0, MAX_HOSTS)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
  }, ALL_WAIT_MS)
  try {
    const reports = await mapAtOnce(asked, async ([, onHost]) => (isLate ? [] : await readInPieces(env, onHost)))
    return new Map(reports.flat())
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the pods on silent hosts, and since when. */
export function silencesOf(live: Iterable<readonly [string, LivePod]>): Map<string, number> {
  return new Map([...live].flatMap(([id, { silentSinceMs }]) => (silentSinceMs === null ? [] : [[id, silentSinceMs]])))
}

/** Reads the pods of one host in pieces; other requests run between two calls (RATE-22). */
async function readInPieces(env: Env, pods: readonly OwnPod[]): Promise<[string, LivePod][]> {
  const reports: [string, LivePod][] = []
  for await (const piece of inPieces(pods, ASKED_AT_ONCE)) reports.push(...(await readFromHost(env, piece)))
  return reports
}

async function readFromHost(env: Env, pods: readonly OwnPod[]): Promise<[string, LivePod][]> {
  const [first] = pods
  if (!first) return []
  const ids = pods.map(({ row }) => workloadIdOf(row.id, row.generation))
  const { silentSinceMs, stats, idle } = await withinTime(hostStub(env, hostOf(first)).readPods(ids))
  const byId = new Map(stats.map((item) => [item.id, item]))
  const idleById = new Map(idle.map(({ id, sinceMs }) => [id, sinceMs]))
  return pods.map((pod, index) => {
    const id = ids[index] ?? ''
    return [pod.id, { silentSinceMs, stats: byId.get(id), idleSinceMs: idleById.get(id) ?? null }]
  })
}

async function withinTime(reading: Promise<PodsOnHost>): Promise<PodsOnHost> {
  let timer: ReturnType<typeof setTimeout> | null = null
  const timeout = new Promise<PodsOnHost>((resolve) => {
    timer = setTimeout(() => resolve(NOTHING), WAIT_MS)
  })
  try {
    return await Promise.race([reading.catch(() => NOTHING), timeout])
  } finally {
    clearTimeout(timer)
  }
}
