import type { Isolation } from '../../host-protocol/messages.ts'

/**
 * What one account may take in all of something that a host's accounts share and that cannot be taken back (HOST-147): as much as it leaves to
 * whoever comes next. Alone it gets half; however many take all that they may, the next one finds as much as the last. Pure.
 */
export function fairRoom(total: number, othersTake: number): number {
  return Math.max(0, Math.floor((total - othersTake) / 2))
}

/** Whether a host runs several accounts that do not trust one another; a host for one account at a time, or for friends, shares out nothing. */
export function isAmongStrangers({ network, trustedTenants }: Isolation): boolean {
  return network === true && trustedTenants !== true
}
