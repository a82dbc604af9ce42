import type { Isolation } from '../../host-protocol/messages.ts'

/**
 * Whether a host is shared by accounts that do not trust one another. Other hosts (one account at a time, or trusted tenants) do not divide
 * resources into shares.
 */
export function isSharedByTenants({ network, trustedTenants }: Isolation): boolean {
  return network === true && trustedTenants !== true
}
