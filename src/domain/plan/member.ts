import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { Permission } from '../../contract/enums.ts'
import { type Role, scopesOf, scopesOfRole, scopesWithin } from '../access.ts'
import { scopesOfHandedKey } from '../team/members.ts'
import { eachOf, effect, type Named, noEffect } from './effect.ts'
import { type PlannedKey, planKeyRevocation } from './keys.ts'

// Plans for changes of an organization's members. Pure.

/** A key of a member, with its permission and scopes. */
export interface MemberKey extends PlannedKey {
  permission: Permission
  scopes: readonly string[]
}

/** Removing a member, whose keys are revoked or handed to another member (DRY-14). */
export function planRemoval(
  member: ChangedResource,
  role: Role,
  keys: Named<MemberKey>,
  recipient: { email: string; role: Role } | null,
  nowMs: number,
): ChangeEffect[] {
  const gone = effect(
    member,
    'REFUSES',
    'WARNING',
    'the user loses all access to the organization within 60 s; only a new invitation restores it',
  )
  const effectOf = (key: MemberKey) => (recipient ? handedOn(key, role, recipient) : planKeyRevocation(key, nowMs))
  return [gone, ...eachOf(member, keys, effectOf)]
}

function handedOn(key: MemberKey, role: Role, recipient: { email: string; role: Role }): ChangeEffect {
  const resource = { kind: 'api-key' as const, id: key.id, name: key.name }
  if (role === recipient.role)
    return effect(resource, 'MOVES', 'INFO', `it becomes a key of ${recipient.email} and grants the same permissions`)
  const granted = new Set(scopesOfHandedKey(role, key.permission, key.scopes))
  const lost = [...scopesWithin(scopesOf(key.permission, key.scopes), role)].filter((scope) => !granted.has(scope))
  const less = lost.length > 0 ? `; it no longer grants ${lost.join(', ')}` : ', and grants the same permissions'
  return effect(resource, 'MOVES', lost.length > 0 ? 'WARNING' : 'INFO', `it becomes a key of ${recipient.email}${less}`)
}

/** Changing a member's role: permissions lost and gained, and keys that grant less (DRY-14). */
export function planRole(member: ChangedResource, from: Role, to: Role, keys: Named<MemberKey>): ChangeEffect[] {
  if (from === to) return noEffect(member)
  const [before, after] = [scopesOfRole(from), scopesOfRole(to)]
  const lost = [...before].filter((scope) => !after.has(scope))
  const won = [...after].filter((scope) => !before.has(scope))
  const weaker = keys.first.filter((key) => lostBy(key, from, to).length > 0)
  const unseen = keys.total - keys.first.length
  const rest = { ...effect(member, 'CHANGES', 'INFO', `${unseen} more keys were not checked`), amount: unseen }
  return [
    effect(member, 'CHANGES', 'INFO', `the role ${from} becomes ${to}`),
    ...(lost.length > 0 ? [effect(member, 'REFUSES', 'WARNING', `no longer: ${lost.join(', ')}`)] : []),
    ...(won.length > 0 ? [effect(member, 'CHANGES', 'INFO', `from then on: ${won.join(', ')}`)] : []),
    ...weaker.map((key) =>
      effect(
        { kind: 'api-key', id: key.id, name: key.name },
        'REFUSES',
        'WARNING',
        `it no longer grants ${lostBy(key, from, to).join(', ')}`,
      ),
    ),
    ...(unseen > 0 ? [rest] : []),
  ]
}

function lostBy({ permission, scopes }: MemberKey, from: Role, to: Role): string[] {
  const held = scopesOf(permission, scopes)
  const after = scopesWithin(held, to)
  return [...scopesWithin(held, from)].filter((scope) => !after.has(scope))
}

/** Deleting an organization without resources: effects on its members, invitations and the caller's keys (DRY-15). */
export function planOrganizationDeletion(
  organization: ChangedResource,
  { members, invitations, keys }: { members: number; invitations: number; keys: Named<MemberKey> },
  nowMs: number,
): ChangeEffect[] {
  const count = (amount: number, one: string, many: string, does: 'REFUSES' | 'DELETES') =>
    amount === 0 ? [] : [{ ...effect(organization, does, 'WARNING', amount === 1 ? one : many), amount }]
  return [
    effect(organization, 'DELETES', 'LOSS', 'it is deleted; its usage records stay for billing'),
    ...count(members, '1 member loses it', `${members} members lose it`, 'REFUSES'),
    ...count(invitations, '1 open invitation becomes invalid', `${invitations} open invitations become invalid`, 'DELETES'),
    ...eachOf(organization, keys, (key) => planKeyRevocation(key, nowMs)),
  ]
}
