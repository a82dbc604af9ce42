import type { Isolation } from '../../host-protocol/messages.ts'

/** Whether a host runs several accounts that do not trust one another; a host for one account at a time, or for friends, shares out nothing. */
export function isAmongStrangers({ network, trustedTenants }: Isolation): boolean {
  return network === true && trustedTenants !== true
}
