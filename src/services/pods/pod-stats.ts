import type { PodRow } from '../../db/pods.ts'
import { workloadIdOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import type { WorkloadStats } from '../../host-protocol/messages.ts'
import { hostStub } from '../../objects/stubs.ts'

/** A host that takes longer does not hold up the answer; its figures are left out. */
const STATS_WAIT_MS = 1_000
/** Hosts asked for one answer: a request may make a bounded number of calls. */
const MAX_HOSTS = 500

/** What running pods use at the moment, by pod id: one call a host, all at once. Pods whose host says nothing are not in it. */
export async function readPodStats(env: Env, pods: readonly PodRow[]): Promise<Map<string, WorkloadStats>> {
  const byHost = Map.groupBy(
    pods.filter(({ status }) => status === 'RUNNING'),
    ({ hostId }) => hostId,
  )
  const asked = [...byHost].slice(0, MAX_HOSTS)
  const told = await Promise.all(asked.map(([hostId, onHost]) => readFromHost(env, hostId, onHost)))
  return new Map(told.flat())
}

async function readFromHost(env: Env, hostId: string, pods: readonly PodRow[]): Promise<[string, WorkloadStats][]> {
  const podIds = new Map(pods.map((pod) => [workloadIdOf(pod.id, pod.generation), pod.id]))
  const stats = await withinTime(hostStub(env, hostId).readStats([...podIds.keys()]))
  return stats.flatMap((item) => {
    const podId = podIds.get(item.id)
    return podId === undefined ? [] : [[podId, item]]
  })
}

async function withinTime(reading: Promise<WorkloadStats[]>): Promise<WorkloadStats[]> {
  let timer: ReturnType<typeof setTimeout> | null = null
  const timeout = new Promise<WorkloadStats[]>((resolve) => {
    timer = setTimeout(() => resolve([]), STATS_WAIT_MS)
  })
  try {
    return await Promise.race([reading.catch(() => []), timeout])
  } finally {
    clearTimeout(timer)
  }
}
