import type { CordonRequest, Host } from '../../contract/hosts/hosts.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { cordonByOperator, liftCordon } from '../../db/hosts/host-cordon.ts'
import { findHost, findHostState, type HostRecord, listHosts as listHostRows, removeIdleHost } from '../../db/hosts/host-views.ts'
import { healthOf } from '../../domain/host/health.ts'
import { announceCapacity } from '../../effects/capacity.ts'
import { regionOf } from '../../effects/catalog.ts'
import { drainWorkers } from '../../effects/presence.ts'
import type { Env } from '../../env.ts'
import { DEFAULT_PORT_RANGE } from '../../host-protocol/messages.ts'
import { asOperator } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { logEvent } from '../../platform/log.ts'
import type { HostPresenceView } from '../../rpc/host.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'

// Operations of the operator on hosts: the route has checked the operator's key (AUT-4a).

const OVERSIZE = 'its desired state is too large to send; end some of its workloads, those with the largest env first'
const REPLACED =
  'another agent process replaced its connection while it was in use, so its key may be in two places; if this was not intended, remove the host and enrol the machine again'
/** Longest list for which the hosts' objects are asked; a longer one uses the database only. */
const MAX_ASKED = 100

/** Presence as the host's object knows it; null when the object was not asked, or the host has not linked yet. */
type Presence = HostPresenceView | null

/** Returns all hosts that have not been removed. */
export async function listHosts(env: Env): Promise<Host[]> {
  const records = await listHostRows(openDatabase(env.DB))
  const asked = records.length <= MAX_ASKED
  return mapAtOnce(records, async (record) => toHost(record, asked ? await askPresence(env, record.host) : null))
}

/** Returns one host. Throws 404, also for a removed one. */
export async function getHost(env: Env, id: string): Promise<Host> {
  const found = orNotFound(await findHost(openDatabase(env.DB), id))
  return toHost(found, await askPresence(env, found.host))
}

/** Cordons a host: it gets no new work, running workloads stay (HOST-31). Throws 404. */
export async function cordonHost(ctx: OperatorContext, id: string, body: CordonRequest): Promise<Host> {
  const { env, nowMs } = ctx
  const reason = body.reason ?? null
  const note = noteHost(ctx, 'cordon', id, { reason })
  if (!(await cordonByOperator(openDatabase(env.DB), id, { reason, draining: false, nowMs }, note))) throw new Problem('notFound')
  return getHost(env, id)
}

/** Uncordons a host and ends a drain (HOST-31). Throws 404. */
export async function uncordonHost(ctx: OperatorContext, id: string): Promise<Host> {
  const { env } = ctx
  if (!(await liftCordon(openDatabase(env.DB), id, noteHost(ctx, 'uncordon', id, {})))) throw new Problem('notFound')
  await announceCapacity(env, id)
  return getHost(env, id)
}

/**
 * Drains a host: cordons it, asks its workers to leave after their jobs, and moves the pods that may run elsewhere (HOST-32, POD-31). A
 * repeated call asks again. Throws 404.
 */
export async function drainHost(ctx: OperatorContext, id: string, body: CordonRequest): Promise<Host> {
  const { env, nowMs } = ctx
  const reason = body.reason ?? null
  const note = noteHost(ctx, 'drain', id, { reason })
  // The cordon comes first, so that no workload is added after the others were asked to leave.
  if (!(await cordonByOperator(openDatabase(env.DB), id, { reason, draining: true, nowMs }, note))) throw new Problem('notFound')
  try {
    await drainWorkers(env, id)
    await hostStub(env, asOperator(id)).movePods(id)
  } catch (error) {
    logEvent('error', 'a drain could not be begun everywhere', { hostId: id, error })
    throw new Problem('unavailable', {
      detail: 'the host is cordoned, but not all of its workloads could be asked to leave; drain it again',
    })
  }
  return getHost(env, id)
}

/**
 * Withdraws a host's enrolment and ends its link. Throws 404, and 409 while an online host has workloads; the workloads of an offline host,
 * which may never return, are given up.
 */
export async function removeHost(ctx: OperatorContext, id: string): Promise<void> {
  const { env } = ctx
  const db = openDatabase(env.DB)
  if (!(await findHostState(db, id))) throw new Problem('notFound')
  // The host object is notified first: after a crash that follows the update, or when something cannot be given up at once, it continues by
  // itself.
  await hostStub(env, asOperator(id)).expectRemoval(id)
  if (!(await removeIdleHost(db, id, noteHost(ctx, 'remove', id, null), ctx.nowMs))) {
    await getHost(env, id)
    throw hostInUse()
  }
  try {
    await hostStub(env, asOperator(id)).revoke(id)
  } catch (error) {
    logEvent('error', 'what a removed host held is not given up yet', { hostId: id, error })
  }
}

/** Returns the 409 for a host that has workloads. */
export function hostInUse(): Problem {
  return new Problem('conflict', { detail: 'the host holds workloads; end them first', code: 'IN_USE' })
}

function noteHost(ctx: OperatorContext, verb: string, id: string, after: Record<string, unknown> | null) {
  return noteByOperator(ctx, null, { action: `hosts.${verb}`, resourceKind: 'host', resourceId: id, before: {}, after })
}

async function askPresence(env: Env, { id, dataCenterId }: HostRecord['host']): Promise<Presence> {
  return hostStub(env, asOperator(id), regionOf([dataCenterId]))
    .presence()
    .catch((error: unknown) => {
      logEvent('warn', 'presence of a host not known', { hostId: id, error })
      return null
    })
}

function toHost({ host, gpus, workloads }: HostRecord, presence: Presence): Host {
  const { inventory } = host
  const online = host.status === 'ONLINE'
  const lastSeenAtMs = presence?.lastBeatAtMs ?? host.lastSeenAt
  return {
    id: host.id,
    name: host.name,
    dataCenterId: host.dataCenterId,
    cloud: host.cloud,
    status: online ? 'ONLINE' : 'OFFLINE',
    health: healthOf({
      online,
      suspect: presence?.suspect ?? false,
      lost: host.lostAt !== null,
      gpuProblems: host.gpuProblems.length,
      oversize: presence?.oversize ?? false,
      diskFull: inventory.diskProblem != null,
      replaced: presence?.replacements?.recent ?? false,
    }),
    statusReason: toStatusReason(presence, inventory.diskProblem ?? null),
    linkReplacements: presence && toReplacements(presence.replacements),
    cordon: toCordon(host),
    draining: host.draining,
    workloads,
    simulated: inventory.simulated,
    gpus: toGpus(host, gpus),
    vcpu: { total: host.vcpuTotal, free: host.vcpuFree },
    memoryGb: { total: toGb(host.memoryMbTotal), free: toGb(host.memoryMbFree) },
    diskGb: { total: host.diskGbTotal, free: host.diskGbFree },
    runtimes: inventory.runtimes,
    sharedVolumes: inventory.sharedVolumes ?? null,
    sizesEnforced: inventory.sizesEnforced ?? null,
    isolation: toIsolation(inventory.isolation),
    privateNetworks: toPrivateNetworks(inventory.overlay),
    workerTransports:
      presence?.transports?.map(({ endpoint, transport }) => ({ endpointId: endpoint, transport: TRANSPORTS[transport] })) ?? null,
    gpuProblems: host.gpuProblems.map(({ index, problem }) => ({ gpu: index, problem })),
    publicIp: host.publicIp,
    portRange: inventory.portRange ?? DEFAULT_PORT_RANGE,
    createdAt: formatTime(host.createdAt),
    lastSeenAt: lastSeenAtMs === null ? null : formatTime(lastSeenAtMs),
  }
}

const TRANSPORTS = { channel: 'CHANNEL', http: 'HTTP' } as const

function toIsolation(said: HostRecord['host']['inventory']['isolation']): Host['isolation'] {
  return {
    runtimeClass: said?.runtimeClass ?? null,
    userNamespaces: said?.userNamespaces ?? null,
    network: said?.network ?? null,
    networkReason: said?.networkReason ?? null,
    trustedTenants: said?.trustedTenants ?? false,
    missing: said?.missing ?? [],
  }
}

function toPrivateNetworks(said: HostRecord['host']['inventory']['overlay']): Host['privateNetworks'] {
  if (said === undefined) return null
  const { address, reason, encryption, encryptionReason = null, mtu = null } = said
  return { address, reason, encryption, encryptionReason, mtu }
}

function toStatusReason(presence: Presence, diskProblem: string | null): string | null {
  const reasons = [
    ...(diskProblem === null ? [] : [diskProblem]),
    ...(presence?.oversize ? [OVERSIZE] : []),
    ...(presence?.replacements?.recent ? [REPLACED] : []),
  ]
  return reasons.length === 0 ? null : reasons.join('; ')
}

function toReplacements(replacements: HostPresenceView['replacements']): Host['linkReplacements'] {
  if (replacements === null) return { count: 0, lastAt: null, lastAddress: null }
  const { count, lastAtMs, lastAddress } = replacements
  return { count, lastAt: formatTime(lastAtMs), lastAddress }
}

function toCordon({ cordonedAt, cordonBy, cordonReason }: HostRecord['host']): Host['cordon'] {
  return cordonedAt === null ? null : { at: formatTime(cordonedAt), by: cordonBy ?? 'operator', reason: cordonReason }
}

function toGpus({ inventory }: HostRecord['host'], gpus: HostRecord['gpus']): Host['gpus'] {
  return gpus.map(({ gpuTypeId, total, free, cudaVersion }) => {
    const reported = inventory.gpus.filter(({ typeId }) => typeId === gpuTypeId)
    return {
      typeId: gpuTypeId,
      total,
      free,
      simulated: reported.some(({ simulated }) => simulated),
      driverVersion: reported.find(({ driverVersion }) => driverVersion !== null)?.driverVersion ?? null,
      cudaVersion,
    }
  })
}

/** Two decimals are enough for a reader, and the parts still add up. */
function toGb(megabytes: number): number {
  return Math.round((megabytes / 1024) * 100) / 100
}
