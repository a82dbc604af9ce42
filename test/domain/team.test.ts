import fc from 'fast-check'
import type { Permission } from '../../src/contract/enums.ts'
import { ROLES, type Role, scopesOf, scopesOfRole, scopesWithin } from '../../src/domain/access.ts'
import { type InvitationRequest, MAX_OPEN_INVITATIONS, refuseInvitation } from '../../src/domain/team/invitation.ts'
import {
  isNotLower,
  MAX_MEMBERS,
  mayManage,
  refuseHandOver,
  refuseManaging,
  refuseOwning,
  refuseRemoval,
  refuseRole,
  type Standing,
  scopesOfHandedKey,
} from '../../src/domain/team/members.ts'
import { BLOCKER_KINDS, type Blocker, refuseDeletion } from '../../src/domain/team/organization.ts'
import { describe, expect, it } from '../support/unit.ts'

const role = fc.constantFrom(...ROLES)
const pairs = ROLES.flatMap((one) => ROLES.map((other) => [one, other] as const))
const standing = (changes: Partial<Standing> = {}): Standing => ({ actor: 'OWNER', member: 'DEV', isSelf: false, owners: 2, ...changes })

const FREE = { owned: 0, bound: 10 }
const FULL = { owned: 10, bound: 10 }

describe('[TEAM-5] permissions of roles over members', () => {
  it('owners manage all members, administrators all but owners, the other roles none', () => {
    const managed = Object.fromEntries(ROLES.map((actor) => [actor, ROLES.filter((other) => mayManage(actor, other))]))
    expect(managed).toEqual({ OWNER: [...ROLES], ADMIN: ['ADMIN', 'DEV', 'BILLING', 'BASIC'], DEV: [], BILLING: [], BASIC: [] })
    expect(ROLES.filter((actor) => refuseManaging(actor) === null)).toEqual(['OWNER', 'ADMIN'])
  })

  it('assigning a role requires managing the old and the new one, and removing it requires managing it', () => {
    fc.assert(
      fc.property(role, role, role, fc.integer({ min: 2, max: 9 }), fc.boolean(), (actor, member, to, owners, isSelf) => {
        const both = mayManage(actor, member) && mayManage(actor, to)
        expect(refuseRole(standing({ actor, member, owners, isSelf }), to, FREE) === null).toBe(both)
        expect(refuseRemoval(standing({ actor, member, owners }), null) === null).toBe(mayManage(actor, member))
        expect(refuseRemoval(standing({ actor, member, owners, isSelf: true }), null)).toBeNull()
      }),
    )
  })

  it('a refusal names the role and the missing permission', () => {
    expect(refuseRole(standing({ actor: 'DEV' }), 'BASIC', FREE)).toEqual({
      key: 'accessDenied',
      errors: ['the role DEV may not manage members or the organization'],
    })
    expect(refuseRole(standing({ actor: 'ADMIN' }), 'OWNER', FREE)).toEqual({
      key: 'accessDenied',
      errors: ['the role ADMIN may not assign or remove the role OWNER'],
    })
  })
})

describe('[TEAM-6] the last owner', () => {
  it.each([1, 2])('with %i owners', (owners) => {
    const last = standing({ member: 'OWNER', owners })
    const outcome = owners === 1 ? 'conflict' : undefined
    expect(refuseRole(last, 'ADMIN', FREE)?.key).toBe(outcome)
    expect(refuseRemoval(last, null)?.key).toBe(outcome)
    expect(refuseRemoval({ ...last, isSelf: true }, null)?.key).toBe(outcome)
    expect(refuseRole(last, 'OWNER', FULL)).toBeNull()
  })

  it('whatever is allowed, one at a time, an owner is left', () => {
    const operation = fc.record({ by: fc.nat(4), on: fc.nat(4), to: fc.option(role) })
    fc.assert(
      fc.property(fc.array(role, { maxLength: 4 }), fc.array(operation, { maxLength: 30 }), (others, operations) => {
        const team = new Map((['OWNER', ...others] satisfies Role[]).entries())
        for (const { by, on, to } of operations) {
          const [actor, member] = [team.get(by), team.get(on)]
          if (!actor || !member) continue
          const owners = [...team.values()].filter((one) => one === 'OWNER').length
          const seen = { actor, member, isSelf: by === on, owners }
          const refused = to === null ? refuseRemoval(seen, null) : refuseRole(seen, to, FREE)
          if (refused) continue
          if (to === null) team.delete(on)
          else team.set(on, to)
          expect([...team.values()]).toContain('OWNER')
        }
      }),
    )
  })
})

describe('[TEAM-3] owning', () => {
  it('ends at the bound, whichever way it comes', () => {
    expect(refuseOwning({ owned: 9, bound: 10 })).toBeNull()
    for (const refused of [refuseOwning(FULL), refuseRole(standing(), 'OWNER', FULL), refuseHandOver(standing(), FULL)]) {
      expect(refused).toEqual({
        key: 'badRequest',
        detail: 'the user may own 10 organizations and owns 10; delete or transfer one first, or ask the operator to raise the budget',
        code: 'RULE',
      })
    }
  })
})

describe('[TEAM-11] the keys of a leaving member', () => {
  it('a role is not lower than another only if it grants all that the other does', () => {
    for (const [one, other] of pairs.filter(([one, other]) => isNotLower(one, other))) {
      expect(
        [...scopesOfRole(other)].filter((scope) => !scopesOfRole(one).has(scope)),
        `${one} ${other}`,
      ).toEqual([])
    }
    expect(pairs.filter(([one, other]) => isNotLower(one, other) && one !== 'OWNER' && one !== 'ADMIN')).toEqual([
      ['DEV', 'DEV'],
      ['DEV', 'BASIC'],
      ['BILLING', 'BILLING'],
      ['BASIC', 'BASIC'],
    ])
    expect(isNotLower('ADMIN', 'OWNER')).toBe(false)
  })

  it('are transferred to a member who is not lower, and whom the caller may manage', () => {
    const recipients = (actor: Role, member: Role) =>
      ROLES.filter((recipient) => refuseRemoval(standing({ actor, member }), { role: recipient, isSelf: false }) === null)
    expect(recipients('OWNER', 'DEV')).toEqual(['OWNER', 'ADMIN', 'DEV'])
    expect(recipients('ADMIN', 'DEV')).toEqual(['ADMIN', 'DEV'])
    expect(recipients('OWNER', 'OWNER')).toEqual(['OWNER'])
    expect(recipients('OWNER', 'BILLING')).toEqual(['OWNER', 'ADMIN', 'BILLING'])
  })

  it('are transferred neither to another account nor to the leaving member, and not by a member without the right', () => {
    expect(refuseRemoval(standing(), { role: undefined, isSelf: false })?.detail).toBe('keysTo is not a member of the organization')
    expect(refuseRemoval(standing(), { role: 'DEV', isSelf: true })?.detail).toBe('keysTo is the member who leaves: name another member')
    expect(refuseRemoval(standing({ actor: 'DEV', isSelf: true }), { role: 'ADMIN', isSelf: false })?.key).toBe('accessDenied')
  })

  it('grant nothing that they did not grant before, and never `account:write`', () => {
    const permission = fc.constantFrom<Permission[]>('ALL', 'READ_ONLY', 'RESTRICTED')
    const listed = fc.subarray(['pods:read', 'pods:write', 'account:write', 'jobs:write@e1', 'billing:read'])
    fc.assert(
      fc.property(role, role, permission, listed, (from, to, kind, scopes) => {
        const before = scopesWithin(scopesOf(kind, scopes), from)
        const after = scopesWithin(new Set(scopesOfHandedKey(from, kind, scopes)), to)
        expect([...after].filter((scope) => !before.has(scope))).toEqual([])
        expect(after.has('account:write')).toBe(false)
      }),
    )
  })
})

describe('[TEAM-12] handing over', () => {
  it('is done by an owner, to another', () => {
    expect(ROLES.filter((actor) => refuseHandOver(standing({ actor }), FREE) === null)).toEqual(['OWNER'])
    expect(refuseHandOver(standing({ isSelf: true }), FREE)?.key).toBe('badRequest')
    expect(refuseHandOver(standing({ member: 'OWNER' }), FULL)).toBeNull()
  })
})

describe('[TEAM-7] an invitation', () => {
  const request: InvitationRequest = { actor: 'OWNER', role: 'DEV', isMember: false, isInvited: false, open: 0, members: 1 }
  it.each<[string, Partial<InvitationRequest>, string | undefined]>([
    ['into a team with room', {}, undefined],
    ['the last one', { open: MAX_OPEN_INVITATIONS - 1, members: MAX_MEMBERS - 1 }, undefined],
    ['one too many', { open: MAX_OPEN_INVITATIONS }, 'badRequest'],
    ['of one member too many', { members: MAX_MEMBERS }, 'badRequest'],
    ['of a member', { isMember: true }, 'conflict'],
    ['of an address that has one', { isInvited: true }, 'conflict'],
    ['of an owner, by an administrator', { actor: 'ADMIN', role: 'OWNER' }, 'accessDenied'],
    ['by a developer', { actor: 'DEV' }, 'accessDenied'],
  ])('%s', (_title, changes, key) => {
    expect(refuseInvitation({ ...request, ...changes })?.key).toBe(key)
  })
})

describe('[TEAM-13] deleting', () => {
  const NOTHING = Object.fromEntries(BLOCKER_KINDS.map((kind) => [kind, 0])) as Record<Blocker, number>

  it('requires an owner and an empty organization', () => {
    expect(ROLES.filter((actor) => refuseDeletion(actor, NOTHING) === null)).toEqual(['OWNER'])
    for (const kind of BLOCKER_KINDS) expect(refuseDeletion('OWNER', { ...NOTHING, [kind]: 1 })?.code, kind).toBe('IN_USE')
  })

  it('names all that is left', () => {
    expect(refuseDeletion('OWNER', { ...NOTHING, pods: 2, endpoints: 1, keysOfOthers: 1 })).toEqual({
      key: 'conflict',
      detail: 'the organization still has 2 pods, 1 endpoint, 1 key of another member: delete or revoke them first',
      code: 'IN_USE',
    })
  })
})
