import { hostStub } from '../../durable-objects/stubs.ts'
import { type CreateJoinTokenRequest, DEFAULT_DATA_CENTER_ID, type Host, JOIN_TOKEN_TTL_MS } from '../contract/hosts.ts'
import { Problem } from '../contract/problems.ts'
import { formatTime } from '../contract/timestamps.ts'
import { openDatabase } from '../db/client.ts'
import { findHost, type HostGpuRow, type HostRow, listHosts as listHostRows, removeIdleHost } from '../db/host-views.ts'
import { insertJoinToken } from '../db/join-tokens.ts'
import type { Env } from '../env.ts'
import { sha256Hex } from './crypto.ts'
import { newJoinToken } from './ids.ts'

// Verbs of the operator about machines: the route has checked the operator's key (AUT-4a).

/** Makes a token with which one machine may join once, within 30 minutes. Only its hash is stored. */
export async function createJoinToken(
  env: Env,
  body: CreateJoinTokenRequest,
  nowMs: number,
): Promise<{ token: string; expiresAt: string }> {
  const token = newJoinToken()
  const expiresAt = nowMs + JOIN_TOKEN_TTL_MS
  await insertJoinToken(openDatabase(env.DB), {
    tokenHash: await sha256Hex(token),
    name: body.name ?? null,
    dataCenterId: body.dataCenterId ?? DEFAULT_DATA_CENTER_ID,
    createdAt: nowMs,
    expiresAt,
    usedAt: null,
    usedByHostId: null,
  })
  return { token, expiresAt: formatTime(expiresAt) }
}

/** Every machine that has not been removed. */
export async function listHosts(env: Env): Promise<Host[]> {
  return (await listHostRows(openDatabase(env.DB))).map(({ host, gpus }) => toHost(host, gpus))
}

/** One machine. Throws 404, also for a removed one. */
export async function getHost(env: Env, id: string): Promise<Host> {
  const found = await findHost(openDatabase(env.DB), id)
  if (!found) throw new Problem('notFound')
  return toHost(found.host, found.gpus)
}

/**
 * Withdraws a machine's enrolment and ends its link. Throws 404, and 409 while anything is placed on a machine that is online; one that is
 * offline may never return, so what it held is given up.
 */
export async function removeHost(env: Env, id: string): Promise<void> {
  if (!(await removeIdleHost(openDatabase(env.DB), id))) {
    await getHost(env, id)
    throw new Problem('conflict', { detail: 'the host holds workloads; end them first', code: 'IN_USE' })
  }
  await hostStub(env, id).revoke(id, 'removed by the operator')
}

function toHost(host: HostRow, gpus: readonly HostGpuRow[]): Host {
  const { inventory } = host
  const simulatedTypes = new Set(inventory.gpus.filter(({ simulated }) => simulated).map(({ typeId }) => typeId))
  return {
    id: host.id,
    name: host.name,
    dataCenterId: host.dataCenterId,
    status: host.status === 'ONLINE' ? 'ONLINE' : 'OFFLINE',
    simulated: inventory.simulated,
    gpus: gpus.map(({ gpuTypeId, total, free, cudaVersion }) => ({
      typeId: gpuTypeId,
      total,
      free,
      simulated: simulatedTypes.has(gpuTypeId),
      cudaVersion,
    })),
    vcpu: { total: host.vcpuTotal, free: host.vcpuFree },
    memoryGb: { total: toGb(host.memoryMbTotal), free: toGb(host.memoryMbFree) },
    diskGb: { total: host.diskGbTotal, free: host.diskGbFree },
    runtimes: inventory.runtimes,
    createdAt: formatTime(host.createdAt),
    lastSeenAt: host.lastSeenAt === null ? null : formatTime(host.lastSeenAt),
  }
}

/** Two decimals are plenty for a person and keep the sum of parts recognisable. */
function toGb(megabytes: number): number {
  return Math.round((megabytes / 1024) * 100) / 100
}
