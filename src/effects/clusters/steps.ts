import { openDatabase, openRecords } from '../../db/client.ts'
import { dropCluster, publishCheck, releaseMembers } from '../../db/clusters/clusters.ts'
import { findPodForHost } from '../../db/pods/find-pods.ts'
import { type Member, takesMember, triedAfter } from '../../domain/cluster/life.ts'
import { decideGivenUp, decideTermination } from '../../domain/pod/pod.ts'
import type { Env } from '../../env.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { notifyHostsOfOverlays } from '../overlays/notify-hosts.ts'
import { changePodByPlatform } from '../pods/platform-change.ts'
import { moveMemberPod } from '../pods/pod-hosts.ts'
import { failPodStart } from '../pods/pod-reports.ts'
import { podHost } from '../pods/with-pod-intents.ts'

/** Effects of a cluster's object on the rows and hosts of its members. Each is idempotent. */
export interface ClusterEffects {
  publishCheck(clusterId: string, number: number, hostIds: readonly string[]): Promise<void>
  release(members: readonly Pick<Member, 'id' | 'generation' | 'hostId'>[]): Promise<void>
  /** False: no host has room for the member at present. */
  move(member: Member, others: readonly Member[], reason: string): Promise<boolean>
  fail(member: Member, reason: string): Promise<void>
  giveUp(member: Member, reason: string): Promise<void>
  terminate(member: Member): Promise<void>
  drop(clusterId: string): Promise<void>
}

const DELETED = 'its cluster was deleted'

/** The effects of a cluster's decisions on D1 and on the objects of hosts. */
export function clusterEffects(env: Env): ClusterEffects {
  const db = openDatabase(env.DB)
  return {
    publishCheck: async (clusterId, number, hostIds) => {
      await publishCheck(db, clusterId, number)
      await notifyHostsOfOverlays(env, [...new Set(hostIds)])
    },
    release: async (members) => {
      const hosts = members.map(({ id, hostId }) => ({ id, host: podHost(env, hostId) }))
      // After a crash that follows the intent records, the hosts finish the release by themselves.
      await mapAtOnce(hosts, ({ id, host }) => host.recordIntent(id))
      await releaseMembers(db, members)
      await mapAtOnce(hosts, ({ id, host }) => host.sync(id))
    },
    move: (member, others, reason) =>
      moveMemberPod(env, member.id, { from: member.hostId, generation: member.generation }, reason, {
        triedHosts: triedAfter(member),
        accepts: (host) => takesMember(host, member, others),
      }),
    fail: async (member, reason) => {
      const pod = await findPodForHost(openRecords(env), member.id)
      if (!pod || pod.generation !== member.generation || pod.hostId !== member.hostId) return
      const host = podHost(env, member.hostId)
      await host.recordIntent(member.id)
      await failPodStart(env, pod, reason)
      await host.sync(member.id)
    },
    // No request: a cluster's object decides. Each decision has the instant at which it reads the row, after the intent record.
    giveUp: (member, reason) =>
      changePodByPlatform(env, podHost(env, member.hostId), member.id, (pod) => {
        if (pod.triedHosts === null || pod.status === 'TERMINATED') return null
        return decideGivenUp({ ...pod, triedHosts: null }, reason, Date.now())
      }),
    terminate: (member) =>
      changePodByPlatform(env, podHost(env, member.hostId), member.id, (pod) =>
        pod.status === 'TERMINATED' ? null : decideTermination(pod, DELETED, Date.now()),
      ),
    drop: (clusterId) => dropCluster(db, clusterId),
  }
}
