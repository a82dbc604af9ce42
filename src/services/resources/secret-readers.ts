import { openRecords } from '../../db/client.ts'
import { listVariableHolders, type VariableHolder } from '../../db/resources/variable-holders.ts'
import { referencedSecrets } from '../../domain/resources/secret-references.ts'
import type { Env } from '../../env.ts'

/** Pods, endpoints and templates whose variables are opened to find the readers of a secret. */
const MAX_OPENED = 200

/** Returns the resources of a team whose variables name a secret, and the number of older ones that were not checked. */
export async function listSecretReaders(
  env: Env,
  teamId: string,
  name: string,
): Promise<{ readers: Omit<VariableHolder, 'env'>[]; leftOut: number }> {
  const { holders, leftOut } = await listVariableHolders(openRecords(env), teamId, MAX_OPENED)
  const readers = holders.filter((holder) => referencedSecrets(holder.env).includes(name)).map(({ env: _env, ...reader }) => reader)
  return { readers, leftOut }
}
