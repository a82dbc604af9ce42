import { sha256Hex } from '../../platform/crypto.ts'

/** The identity behind a request to AWS: a member, and the account that the member delegated to. */
export interface Delegator {
  teamId: string
  userId: string
}

/** Two ids in the plane's format fit into the 64 characters of `[\w+=,.@-]` that AWS accepts. */
const FITS = /^[0-9a-z]{1,31}-[0-9a-z]{1,31}$/

/**
 * Returns the name of a session at AWS (DER-25), which a repository's policy can allow: `<account>-<user>`, so that trust in one account
 * does not extend to another. For ids of another form it is a SHA-256 over both, in hex.
 */
export async function sessionName({ teamId, userId }: Delegator): Promise<string> {
  const name = `${teamId}-${userId}`
  return FITS.test(name) ? name : sha256Hex(`ecr session\n${teamId}\n${userId}`)
}
