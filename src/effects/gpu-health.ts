import { openDatabase } from '../db/client.ts'
import { findGpuProblems, saveGpuProblems } from '../db/hosts/host-cordon.ts'
import { cordonReason } from '../domain/host/health.ts'
import type { Env } from '../env.ts'
import type { GpuProblem } from '../host-protocol/messages.ts'
import { logEvent } from '../platform/log.ts'
import { BY_PLATFORM } from '../rpc/cause.ts'
import { auditStatement } from './audit.ts'

/** Records the present problems of a host's GPUs, and cordons the host when a new one is among them (HOST-42). Idempotent. */
export async function applyGpuHealth(env: Env, hostId: string, problems: GpuProblem[]): Promise<void> {
  const db = openDatabase(env.DB)
  const known = await findGpuProblems(db, hostId)
  if (known === null) return
  const reason = cordonReason(known, problems)
  // No request: a host's object calls this. The audit row and the cordon have one instant.
  const nowMs = Date.now()
  const change = { action: 'hosts.cordon', resourceKind: 'host', resourceId: hostId, before: {}, after: { reason } }
  await saveGpuProblems(db, hostId, problems, reason, nowMs, auditStatement(env, nowMs, BY_PLATFORM, null, change))
  if (reason !== null) logEvent('warn', 'GPU problem', { hostId, reason })
}
