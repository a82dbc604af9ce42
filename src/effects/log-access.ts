import type { Env } from '../env.ts'
import type { LogAccess, LogKind } from '../host-protocol/logs.ts'
import { Owned } from '../objects/owned.ts'
import { equalInConstantTime, keyedDigest } from '../platform/crypto.ts'
import { masterSecrets } from '../platform/seal.ts'
import type { LogWriter } from '../rpc/pod-log.ts'

/** Grants that were verified before, which saves an HMAC per batch. Bounded; a lost entry only costs time. */
const verified = new Map<string, true>()
const MAX_VERIFIED = 20_000

/**
 * Returns the proof that a host was assigned a workload (HOST-10). It is derived, so that a batch of log lines needs neither D1 nor the
 * host object. It contains the host's id and is therefore worthless to another host.
 */
export async function grantLog(env: Env, hostId: string, owner: LogWriter): Promise<LogAccess> {
  return { kind: owner.kind, ownerId: owner.ownerId, grant: await logGrant(masterSecrets(env)[0], hostId, owner) }
}

function logGrant(secret: string, hostId: string, { kind, ownerId, workloadId }: LogWriter): Promise<string> {
  return keyedDigest(secret, ['log', hostId, kind, ownerId, workloadId].join('\n'))
}

/** Returns the log that a workload of this host writes to; null when the host was not assigned this workload. */
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
  // Bounded: a plane has two master secrets at most.
  const good = await Promise.all(masterSecrets(env).map((secret) => logGrant(secret, hostId, { ...access, workloadId })))
  if (!good.some((expected) => equalInConstantTime(access.grant, expected))) return false
  if (verified.size >= MAX_VERIFIED) verified.clear()
  verified.set(entry, true)
  return true
}
