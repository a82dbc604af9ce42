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

type Variables = Record<string, string>

/** Variables as a container gets them, with the names that stand for no secret; or why no container can get them. */
export type FilledEnv = { ok: true; env: Variables; unknown: string[]; hasSecrets: boolean } | { ok: false; reason: string }

/** A secret that is rotated while it is read is read again. */
const MAX_ATTEMPTS = 5

/**
 * The variables of a container without the platform's names, the secrets of a team filled in, for one start (ACC-6): here alone is a value ever
 * opened. Nothing is opened that is too large, or that the container was not granted (CAP-11). Throws when a secret was sealed under a TOKEN_SECRET that is gone: to start without it would be worse.
 */
export async function fillEnv(env: Env, teamId: string, container: Pick<ContainerSpec, 'env' | 'secretGrants'>): Promise<FilledEnv> {
  const variables = withoutPlatformNames(container.env)
  const names = referencedSecrets(variables)
  if (names.length === 0) return { ok: true, env: variables, unknown: [], hasSecrets: false }
  const ungranted = refuseUngranted({ ...container, env: variables })
  if (ungranted !== null) return { ok: false, reason: ungranted }
  const db = openRecords(env)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const measured = await measureSecrets(db, teamId, names)
    const tooLarge = refuseFilling(variables, new Map(measured.map(({ name, bytes }) => [name, bytes])))
    if (tooLarge !== null) return { ok: false, reason: tooLarge }
    const values = await readSecretValues(db, measured)
    if (values.size < measured.length) continue
    const filled = fillReferences(variables, values)
    const reason = refuseFilled(filled.env)
    return reason === null ? { ok: true, ...filled, hasSecrets: true } : { ok: false, reason }
  }
  throw new Error('secrets keep changing while they are read')
}

/**
 * Why a host is not told of a workload with secrets filled in: with what it is told of the account's others, that would be more bytes than the
 * account may have there (SEC-6). Null when it is not.
 */
export async function refuseBytes(env: Env, teamId: string, used: number, workload: Workload): Promise<string | null> {
  const { specBytesPerHost } = await readBudgets(openDatabase(env.DB), teamId, ['specBytesPerHost'])
  const bytes = JSON.stringify(workload).length
  return used + bytes > specBytesPerHost.bound ? describeExcess('specBytesPerHost', used, bytes, specBytesPerHost.bound) : null
}
