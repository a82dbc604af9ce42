import { nearReplica } from '../db/client.ts'
import type { MasterSecrets } from '../platform/seal.ts'
import type { VerbContext } from './context.ts'

/**
 * Returns the database, and the secrets of its sealed parts, for lists that are only shown (RATE-34): a near replica may answer if the
 * caller's own writes are sure to be in it. Changes by others and by the plane may be missing for as long as the replica lags, so nothing
 * may be decided by what is read here. It is the primary for every request that may write.
 */
export async function nearEnv({ env, newestWrite }: Pick<VerbContext, 'env' | 'newestWrite'>): Promise<MasterSecrets & { DB: D1Database }> {
  const bookmark = newestWrite === undefined ? null : await newestWrite
  return bookmark === null ? env : { ...secretsOf(env), DB: nearReplica(env.DB, bookmark) }
}

function secretsOf({ TOKEN_SECRET, TOKEN_SECRET_PREVIOUS }: MasterSecrets): MasterSecrets {
  return { TOKEN_SECRET, ...(TOKEN_SECRET_PREVIOUS !== undefined && { TOKEN_SECRET_PREVIOUS }) }
}
