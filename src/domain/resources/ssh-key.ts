import { type Role, scopesOfRole } from '../access.ts'

/** User who added a public key to an account's list, and when. */
export interface SshKeyMaker {
  userId: string
  addedAtMs: number
}

/** Present state of a member of the account. */
export interface SshKeyMember {
  role: Role
  joinedAtMs: number
  isSuspended: boolean
}

/** A line of the list with the user who added it. `endedBecause`: why the key is refused; null: it is accepted (DER-33). */
export interface JudgedSshKey {
  line: string
  maker: SshKeyMaker | null
  endedBecause: string | null
}

/** Why a key of an account is refused; null: it is accepted (DER-33). A key without a recorded maker is accepted. */
export function endOfSshKey(maker: SshKeyMaker | null, member: SshKeyMember | undefined): string | null {
  if (maker === null) return null
  if (member === undefined) return 'the user who added it is no longer a member of the account'
  if (member.joinedAtMs > maker.addedAtMs) return 'the user who added it has left and rejoined the account'
  if (member.isSuspended) return 'the user who added it is suspended by the operator'
  if (!scopesOfRole(member.role).has('account:write')) return `the user who added it has the role ${member.role}, which may not add keys`
  return null
}

/**
 * Maker of each line of a new list: the recorded one for an existing line, the caller for a new line. Repeating a line does not change its
 * maker.
 */
export function makersOf(before: readonly JudgedSshKey[], lines: readonly string[], caller: SshKeyMaker): Map<string, SshKeyMaker | null> {
  const previous = new Map(before.map(({ line, maker }) => [line, maker]))
  return new Map(lines.map((line) => [line, previous.has(line) ? (previous.get(line) ?? null) : caller]))
}
