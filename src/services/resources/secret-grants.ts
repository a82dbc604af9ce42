import { Problem } from '../../contract/problems.ts'
import { hasScope } from '../../domain/access.ts'
import type { ContainerSpec, SecretGrants } from '../../domain/resources/container.ts'
import { grantSecrets } from '../../domain/resources/secret-grants.ts'
import type { Principal } from '../context.ts'

/** The scope that allows a key to read a secret, and so to grant it to a workload. */
const GRANTS = 'account:read'

/**
 * Returns the caller's container with grants for the secrets that its `env` names (CAP-10). `held`: earlier grants of the row to be
 * written, or of the account's own template. Throws 403 for a newly named secret when the key may not grant it.
 */
export function granted(principal: Principal, container: ContainerSpec, ...held: (SecretGrants | undefined)[]): ContainerSpec {
  const granter = { userId: principal.userId, mayGrant: hasScope(principal.scopes, GRANTS) }
  const result = grantSecrets(container, held, granter)
  if (result.ok) return result.container
  throw new Problem('accessDenied', {
    errors: [
      `$.env: a reference to the secret ${result.names.join(', ')} requires the scope ${GRANTS}, which the key lacks; remove the reference or use a key with that scope`,
    ],
  })
}
