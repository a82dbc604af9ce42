import { describe, expect, it } from '../../support/unit.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { NOUNS, type Noun } from './nouns.ts'
import { HAS, membersOf, type Side, SURFACES } from './surfaces.ts'

/** Says what to do about the rows of a failure, which read `surface noun side: member`. */
const MISSING =
  'add the member to the surface by its row in docs/adding-things.md, "A field of a resource", or a row with the reason to exceptions.ts'
const NOT_NEEDED = 'the surface has the member: remove it from its row in exceptions.ts'

const SIDES: readonly Side[] = ['request', 'answer']

function* everyMember() {
  for (const [name, noun] of Object.entries<Noun>(NOUNS))
    for (const side of SIDES)
      for (const surface of SURFACES)
        for (const member of membersOf(noun, side))
          yield { has: HAS[surface](noun, side, member), row: `${surface} ${name} ${side}: ${member}` }
}

const every = [...everyMember()]
const excepted = EXCEPTIONS.flatMap(({ surface, noun, side, members }) => members.map((member) => `${surface} ${noun} ${side}: ${member}`))

describe('[GEN-9] members of a noun', () => {
  it('are on every surface, or listed with the reason', () => {
    const missing = every.filter(({ has }) => has === false).map(({ row }) => row)
    expect(
      missing.filter((row) => !excepted.includes(row)),
      MISSING,
    ).toEqual([])
  })

  it('have no exception that is not needed', () => {
    const missing = new Set(every.filter(({ has }) => has === false).map(({ row }) => row))
    expect(
      excepted.filter((row) => !missing.has(row)),
      NOT_NEEDED,
    ).toEqual([])
    expect(excepted).toEqual([...new Set(excepted)])
  })

  it('are found where they are, and only there', () => {
    const has = new Map(every.map(({ row, has: is }) => [row, is]))
    expect(['sdk', 'graphql', 'console', 'cli'].map((surface) => has.get(`${surface} pod request: labels`))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(has.get('cli pod request: locked')).toBe(false)
    expect(has.get('graphql host answer: id')).toBeNull()
  })
})
