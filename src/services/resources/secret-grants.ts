import { Problem } from '../../contract/problems.ts'
import { hasScope } from '../../domain/access.ts'
import type { ContainerSpec, SecretGrants } from '../../domain/resources/container.ts'
import { grantSecrets } from '../../domain/resources/secret-grants.ts'
import type { Principal } from '../context.ts'

/** The scope with which a secret can be read, and so granted to a workload. */
const GRANTS = 'account:read'

/**
 * A container as the caller writes it, with what its `env` names granted (CAP-10). `held`: what was granted before, to the row that it is
 * written into, or to the account's own template that it is made from. Throws 403 for a secret that is named anew by a key that grants none.
 */
export function granted(principal: Principal, container: ContainerSpec, ...held: (SecretGrants | undefined)[]): ContainerSpec {
  const granter = { userId: principal.userId, mayGrant: hasScope(principal.scopes, GRANTS) }
  const result = grantSecrets(container, held, granter)
  if (result.ok) return result.container
  throw new Problem('accessDenied', {
    errors: [
      `$.env: to name the secret ${result.names.join(', ')} takes the scope ${GRANTS}, which the key lacks; leave it out or use a key with that scope`,
    ],
  })
}
