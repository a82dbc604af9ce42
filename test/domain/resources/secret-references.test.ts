import { fillReferences, referencedSecrets, refuseFilled, refuseFilling } from '../../../src/domain/resources/secret-references.ts'
import { computesForMs } from '../../support/time.ts'
import { describe, expect, it } from '../../support/unit.ts'

const fill = (value: string, values: Record<string, string>) => fillReferences({ V: value }, new Map(Object.entries(values)))

describe('[ACC-6] names of secrets in env', () => {
  const FILLED: [string, string, string][] = [
    ['alone', '{{ RUNPOD_SECRET_A }}', 'a'],
    ['without spaces', '{{RUNPOD_SECRET_A}}', 'a'],
    ['inside a text, twice', 'x{{ RUNPOD_SECRET_A }}y{{   RUNPOD_SECRET_b/c.d-e }}z{{RUNPOD_SECRET_A}}', 'xaybza'],
    ['with signs that a replacement could mean', '{{ RUNPOD_SECRET_dollar }}', "$& $1 $' $$"],
    ['whose value names another one', '{{ RUNPOD_SECRET_nested }}', '{{ RUNPOD_SECRET_A }}'],
    ['that has no end', '{{ RUNPOD_SECRET_A }', '{{ RUNPOD_SECRET_A }'],
    ['of another kind', '{{ SECRET_A }}{{relay_url}}', '{{ SECRET_A }}{{relay_url}}'],
    ['over two lines', '{{ RUNPOD_SECRET_A\n}}', '{{ RUNPOD_SECRET_A\n}}'],
  ]
  it.each(FILLED)('a name %s', (_title, text, expected) => {
    const values = { A: 'a', 'b/c.d-e': 'b', dollar: "$& $1 $' $$", nested: '{{ RUNPOD_SECRET_A }}' }
    expect(fill(text, values)).toEqual({ env: { V: expected }, unknown: [] })
  })

  it('an unknown one is replaced by nothing, and reported once', () => {
    expect(fill('<{{ RUNPOD_SECRET_X }}{{RUNPOD_SECRET_1}}{{ RUNPOD_SECRET_X }}>', {})).toEqual({ env: { V: '<>' }, unknown: ['X', '1'] })
    expect(referencedSecrets({ A: '{{ RUNPOD_SECRET_X }}', B: 'none', C: '{{ RUNPOD_SECRET_X }}{{ RUNPOD_SECRET_Y }}' })).toEqual([
      'X',
      'Y',
    ])
  })

  it('are found quickly in a text that consists only of beginnings of references', () => {
    const env = { A: '{{ '.repeat(30_000), B: `{{${' '.repeat(90_000)}`, C: '{{ RUNPOD_SECRET_a '.repeat(5_000) }
    expect(computesForMs(() => referencedSecrets(env))).toBeLessThan(500)
  })
})

describe('[SECRET-6] is too large', () => {
  const ENV = { V: 'é{{ RUNPOD_SECRET_A }}' }
  it('a variable, to the byte', () => {
    expect(refuseFilling(ENV, new Map([['A', 131_071 - 4]]))).toBeNull()
    expect(refuseFilling(ENV, new Map([['A', 131_071 - 3]]))).toBe(
      'env V is 131072 bytes with its secrets filled in; a program takes 131071',
    )
    expect(refuseFilling(ENV, new Map())).toBeNull()
  })

  it('all variables together, also by their length as JSON', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`V${i}`, '{{ RUNPOD_SECRET_A }}']))
    expect(refuseFilling(many, new Map([['A', 120_000]]))).toBe(
      'env is 1080027 bytes with its secrets filled in; a workload may have 1048576',
    )
    expect(refuseFilled({ A: '\u0001'.repeat(100_000) })).toBeNull()
    expect(refuseFilled({ A: '\u0001'.repeat(200_000) })).toBe(
      'env is 1200008 bytes with its secrets filled in; a workload may have 1048576',
    )
  })
})
