import type { ContainerSpec } from '../../../src/domain/resources/container.ts'
import { grantSecrets, legacyGrants, refuseUngranted } from '../../../src/domain/resources/secret-grants.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NAMES_A = { X: '<{{ RUNPOD_SECRET_A }}>' }
const NAMES_BOTH = { ...NAMES_A, Y: '{{RUNPOD_SECRET_B}}{{RUNPOD_SECRET_A}}' }
const container = (env: ContainerSpec['env'], secretGrants?: ContainerSpec['secretGrants']): ContainerSpec => ({
  ...{ image: 'i', args: '', diskGb: 10, env, ports: [], registry: null },
  ...(secretGrants && { secretGrants }),
})
const MAY = { userId: 'ada', mayGrant: true }
const MAY_NOT = { userId: 'bob', mayGrant: false }
const grantsOf = (...args: Parameters<typeof grantSecrets>) => {
  const result = grantSecrets(...args)
  return result.ok ? result.container.secretGrants : result.names
}

describe('grants of secrets', () => {
  it('[CAP-10] are made for the named secrets, by callers with permission; others get the names in the refusal', () => {
    expect(grantsOf(container(NAMES_BOTH), [], MAY)).toEqual({ A: 'ada', B: 'ada' })
    expect(grantsOf(container(NAMES_BOTH), [], MAY_NOT)).toEqual(['A', 'B'])
    expect(grantsOf(container({ X: 'plain' }), [], MAY_NOT)).toBeUndefined()
  })

  it('[CAP-10] keep their maker, from the row or from its source, and are removed with the last reference', () => {
    expect(grantsOf(container(NAMES_BOTH, { A: 'eve' }), [], MAY)).toEqual({ A: 'eve', B: 'ada' })
    expect(grantsOf(container(NAMES_BOTH, { A: 'eve' }), [undefined, { B: 'dan' }], MAY_NOT)).toEqual({ A: 'eve', B: 'dan' })
    expect(grantsOf(container(NAMES_BOTH, { A: 'eve' }), [], MAY_NOT)).toEqual(['B'])
    expect(grantsOf(container(NAMES_A, { A: 'eve', B: 'eve' }), [], MAY_NOT)).toEqual({ A: 'eve' })
    expect(grantsOf(container({}, { A: 'eve' }), [], MAY_NOT)).toBeUndefined()
  })

  it('[CAP-10] are not confused with inherited members of objects', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(grantsOf(container({ X: `{{ RUNPOD_SECRET_${name} }}` }), [{}], MAY_NOT), name).toEqual([name])
      expect(refuseUngranted(container({ X: `{{ RUNPOD_SECRET_${name} }}` })), name).toContain(name)
    }
  })

  it('[CAP-11] are asked for at a start', () => {
    expect(refuseUngranted(container(NAMES_BOTH, { A: 'eve' }))).toContain('without a grant: B;')
    expect(refuseUngranted(container(NAMES_BOTH, { A: 'eve', B: '' }))).toBeNull()
    expect(refuseUngranted(container({ X: 'plain' }))).toBeNull()
  })

  it('[CAP-12] of a release without them cover all named secrets', () => {
    expect(legacyGrants(NAMES_BOTH)).toEqual({ A: '', B: '' })
    expect(legacyGrants({ X: 'plain' })).toBeUndefined()
    expect(grantsOf(container(NAMES_BOTH, { A: '' }), [], MAY_NOT)).toEqual(['B'])
  })
})
