import type { Env } from '../env.ts'
import type { LogAccess, LogKind } from '../host-protocol/logs.ts'
import { Owned } from '../objects/owned.ts'
import { equalInConstantTime, keyedDigest } from '../platform/crypto.ts'
import { masterSecrets } from '../platform/seal.ts'

/** Whose log a workload writes. */
export interface LogOwner {
  kind: LogKind
  /** Endpoint of a worker, id of a pod. */
  ownerId: string
  workloadId: string
}

/** Grants that were checked before, so that the thousandth batch costs no HMAC. Bounded; a lost entry only costs time. */
const verified = new Map<string, true>()
const MAX_VERIFIED = 20_000

/**
 * Proves to the plane that a host was given a workload (HOST-10): derived, so that neither D1 nor the host object is asked for a batch of
 * lines. It is worth nothing to another host, because that host's id is part of it.
 */
export async function grantLog(env: Env, hostId: string, owner: LogOwner): Promise<LogAccess> {
  return { kind: owner.kind, ownerId: owner.ownerId, grant: await logGrant(masterSecrets(env)[0], hostId, owner) }
}

function logGrant(secret: string, hostId: string, { kind, ownerId, workloadId }: LogOwner): Promise<string> {
  return keyedDigest(secret, ['log', hostId, kind, ownerId, workloadId].join('\n'))
}

/** The log that a workload of this host writes; null when the host was not given this workload. */
export async function ownByLogGrant(
  env: Env,
  host: Owned<'host'>,
  workloadId: string,
  access: LogAccess,
): Promise<Owned<LogKind, null> | null> {
  if (!(await isGranted(env, host.id, workloadId, access))) return null
  return Owned.prove(access.kind, access.kind === 'pod' ? access.ownerId : workloadId, null)
}

async function isGranted(env: Env, hostId: string, workloadId: string, access: LogAccess): Promise<boolean> {
  const entry = [hostId, workloadId, access.kind, access.ownerId, access.grant].join('\n')
  if (verified.has(entry)) return true
  const good = await Promise.all(masterSecrets(env).map((secret) => logGrant(secret, hostId, { ...access, workloadId })))
  if (!good.some((expected) => equalInConstantTime(access.grant, expected))) return false
  if (verified.size >= MAX_VERIFIED) verified.clear()
  verified.set(entry, true)
  return true
}
