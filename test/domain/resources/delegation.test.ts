import { ROLES } from '../../../src/domain/access.ts'
import { endOfDelegation } from '../../../src/domain/resources/delegation.ts'
import { describe, expect, it } from '../../support/unit.ts'

const MADE = 1_000
const DEV = { role: 'DEV', joinedAtMs: MADE, isSuspended: false } as const

describe('[DER-24] a delegation', () => {
  it.each(ROLES.map((role) => [role, ['OWNER', 'ADMIN', 'DEV'].includes(role)] as const))(
    'of a member who is now %s counts: %s',
    (role, counts) => {
      expect(endOfDelegation(MADE, { ...DEV, role }) === null).toBe(counts)
    },
  )

  it.each([
    [MADE - 1, null],
    [MADE, null],
    [MADE + 1, 'the user who delegated has left and rejoined the account'],
  ])('made at 1000 by who is a member since %i: %s', (joinedAtMs, why) => {
    expect(endOfDelegation(MADE, { ...DEV, joinedAtMs })).toBe(why)
  })

  it('has ended with a member who is suspended, or no member', () => {
    expect(endOfDelegation(MADE, { ...DEV, isSuspended: true })).toContain('is suspended')
    expect(endOfDelegation(MADE, { role: null, joinedAtMs: null, isSuspended: false })).toContain('no longer a member')
  })
})
