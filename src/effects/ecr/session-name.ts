import { sha256Hex } from '../../platform/crypto.ts'

/** For whom AWS is asked: a member, and the account that the member delegated to. */
export interface Delegator {
  teamId: string
  userId: string
}

/** Two ids as the plane makes them fit into the 64 characters that AWS takes of `[\w+=,.@-]`. */
const FITS = /^[0-9a-z]{1,31}-[0-9a-z]{1,31}$/

/**
 * The name of a session at AWS (DER-25), which a policy of a repository lets in: `<account>-<user>`, so that trust given for one account serves
 * no other. Ids of another form are a SHA-256 over both, in hex.
 */
export async function sessionName({ teamId, userId }: Delegator): Promise<string> {
  const name = `${teamId}-${userId}`
  return FITS.test(name) ? name : sha256Hex(`ecr session\n${teamId}\n${userId}`)
}
