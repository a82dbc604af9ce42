import { describeExcess } from '../contract/accounts/budgets.ts'
import { readBudgets } from '../db/accounts/budgets.ts'
import { openDatabase, openRecords } from '../db/client.ts'
import { measureSecrets, readSecretValues } from '../db/resources/secrets.ts'
import type { ContainerSpec } from '../domain/resources/container.ts'
import { withoutPlatformNames } from '../domain/resources/container.ts'
import { refuseUngranted } from '../domain/resources/secret-grants.ts'
import { fillReferences, referencedSecrets, refuseFilled, refuseFilling } from '../domain/resources/secret-references.ts'
import type { Env } from '../env.ts'
import type { Workload } from '../host-protocol/messages.ts'
import { LOST, retryLost } from './retry-lost.ts'

type Variables = Record<string, string>

/** The variables of a container with the names that match no secret, or the reason why no container can get them. */
export type FilledEnv = { ok: true; env: Variables; unknown: string[]; hasSecrets: boolean } | { ok: false; reason: string }

/**
 * Returns the variables of a container without the platform's names, with the team's secrets filled in for one start (ACC-6); no other code
 * opens the value of a secret. Opens nothing that is too large or not granted to the container (CAP-11). Throws when a secret was sealed
 * under a TOKEN_SECRET that is gone: a start without it would be worse.
 */
export async function fillEnv(env: Env, teamId: string, container: Pick<ContainerSpec, 'env' | 'secretGrants'>): Promise<FilledEnv> {
  const variables = withoutPlatformNames(container.env)
  const names = referencedSecrets(variables)
  if (names.length === 0) return { ok: true, env: variables, unknown: [], hasSecrets: false }
  const ungranted = refuseUngranted({ ...container, env: variables })
  if (ungranted !== null) return { ok: false, reason: ungranted }
  const db = openRecords(env)
  // A secret that is rotated between the two reads is missing from the second.
  const outcome = await retryLost<FilledEnv>(async () => {
    const measured = await measureSecrets(db, teamId, names)
    const tooLarge = refuseFilling(variables, new Map(measured.map(({ name, bytes }) => [name, bytes])))
    if (tooLarge !== null) return { ok: false, reason: tooLarge }
    const values = await readSecretValues(db, measured)
    if (values.size < measured.length) return LOST
    const filled = fillReferences(variables, values)
    const reason = refuseFilled(filled.env)
    return reason === null ? { ok: true, ...filled, hasSecrets: true } : { ok: false, reason }
  })
  if (outcome === LOST) throw new Error('secrets keep changing while they are read')
  return outcome
}

/**
 * Returns why a workload with secrets may not be sent to a host: together with the account's other workloads there it would exceed
 * `specBytesPerHost` (SECRET-6); null: it may.
 */
export async function refuseBytes(env: Env, teamId: string, used: number, workload: Workload): Promise<string | null> {
  const { specBytesPerHost } = await readBudgets(openDatabase(env.DB), teamId, ['specBytesPerHost'])
  const bytes = JSON.stringify(workload).length
  return used + bytes > specBytesPerHost.bound ? describeExcess('specBytesPerHost', used, bytes, specBytesPerHost.bound) : null
}
