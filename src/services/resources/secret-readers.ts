import { openRecords } from '../../db/client.ts'
import { listVariableHolders, type VariableHolder } from '../../db/resources/variable-holders.ts'
import { referencedSecrets } from '../../domain/resources/secret-references.ts'
import type { Env } from '../../env.ts'

/** Pods, endpoints and templates whose variables are opened to find who names a secret. */
const MAX_OPENED = 200

/** Who names a secret of a team in their variables, and how many older ones were not looked through. */
export async function listSecretReaders(
  env: Env,
  teamId: string,
  name: string,
): Promise<{ readers: Omit<VariableHolder, 'env'>[]; leftOut: number }> {
  const { holders, leftOut } = await listVariableHolders(openRecords(env), teamId, MAX_OPENED)
  const readers = holders.filter((holder) => referencedSecrets(holder.env).includes(name)).map(({ env: _env, ...reader }) => reader)
  return { readers, leftOut }
}
