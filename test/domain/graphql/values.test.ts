import { graphqlError } from '../../../src/contract/problem-body.ts'
import { PROBLEMS, Problem, type ProblemKey } from '../../../src/contract/problems.ts'
import { instanceOf } from '../../../src/domain/flat/terms.ts'
import { envOf, envPairs, envTexts, given, inFlatTerms, itemsOf } from '../../../src/domain/graphql/values.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('texts', () => {
  it('[GQL-17] an empty text means none', () => {
    expect([given(''), given(null), given(undefined), given('a')]).toEqual([undefined, undefined, undefined, 'a'])
    expect([itemsOf(''), itemsOf(null), itemsOf(' a, b,,')]).toEqual([[], [], ['a', 'b']])
  })

  it('[GQL-13] variables as clients send and read them', () => {
    const env = envOf([{ key: 'A', value: '1' }, null, { key: 'B' }, { key: 'A', value: 'x=y' }])
    expect(env).toEqual({ A: 'x=y', B: '' })
    expect([envTexts(env ?? {}), envPairs(env ?? {})]).toEqual([
      ['A=x=y', 'B='],
      [
        { key: 'A', value: 'x=y' },
        { key: 'B', value: '' },
      ],
    ])
    expect([envOf(null), envOf(undefined)]).toEqual([undefined, undefined])
  })

  it('a CPU machine by its name', () => {
    expect([instanceOf('cpu3c-2-4'), instanceOf('cpu3c'), instanceOf('')]).toEqual([{ id: 'cpu3c', vcpuCount: 2, memory: 4 }, null, null])
  })

  it('errors name members as the client sent them', () => {
    expect(inFlatTerms('$.image: want an image')).toBe('$.imageName: want an image')
    expect(inFlatTerms('$.mounts.persistent.size: minimum')).toBe('$.volumeInGb: minimum')
    expect(inFlatTerms('$.cpu.id: unknown')).toBe('$.instanceId: unknown')
    expect(inFlatTerms('$.imagery: x')).toBe('$.imagery: x')
  })
})

describe('errors', () => {
  const PASSING = /try again later|internal server error|service unavailable|too many requests|temporarily unavailable/i

  it('[GQL-7] transient errors begin with the text on which clients retry, and no others do', () => {
    const said = Object.keys(PROBLEMS).map((key) => ({ key, message: graphqlError(new Problem(key as ProblemKey)).message }))
    expect(said.filter(({ message }) => PASSING.test(message)).map(({ key }) => key)).toEqual([
      'rateLimited',
      'internal',
      'unavailable',
      'storageFull',
    ])
  })

  it('[GQL-5] an internal fault shows no details, a refusal all', () => {
    const cause = new Error('secret')
    expect(graphqlError(new Problem('internal', { detail: 'secret', cause }))).toEqual({
      message: 'internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    })
    expect(graphqlError(new Problem('validationFailed', { errors: ['$.name: missing', '$.env: wrong'] }))).toEqual({
      message: 'Request validation failed: $.name: missing; $.env: wrong',
      extensions: { code: 'RUNPOD' },
    })
  })
})
