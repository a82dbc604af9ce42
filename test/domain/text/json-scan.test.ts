import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_JSON_DEPTH, scanJson } from '../../../src/domain/text/json-scan.ts'
import { tryParse } from '../../../src/domain/text/json-text.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
/** Texts that are JSON but for a character or two. */
const almostJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.nat(),
    fc.constantFrom('', ',', '"', '\\', '{', '}', '[', ']', ':', '0', '-', 'e', '.', ' ', '\t', '\u0001', '\u00a0', 'null'),
  )
  .map(([text, place, inserted]) => {
    const at = place % (text.length + 1)
    return text.slice(0, at) + inserted + text.slice(at + (place % 2))
  })

describe('one pass over JSON', () => {
  it('[H7][RUN-14] takes what JSON.parse takes and refuses what it refuses', () => {
    const agrees = (text: string) => {
      expect([text, scanJson(text) !== null]).toEqual([text, tryParse(text) !== undefined])
    }
    fc.assert(fc.property(fc.oneof(almostJson, fc.json(), fc.string({ unit: 'binary', maxLength: 8 })), agrees), { numRuns: 5_000 })
    const odd = [
      '',
      ' ',
      '01',
      '-',
      '1.',
      '.5',
      '1e',
      '1e+',
      '-0.0e-1',
      '+1',
      'tru',
      'true1',
      'nullnull',
      '"\\u12g4"',
      '"\\x"',
      '"a',
      '"\u007f"',
    ]
    for (const text of [
      ...odd,
      '[1,]',
      '[,1]',
      '{"a":1,}',
      '{,}',
      '{"a"}',
      '{"a":}',
      '{a:1}',
      '[}',
      '{]',
      '[1 2]',
      ' [ ] ',
      '\ufeff{}',
      '"\u2028"',
    ])
      agrees(text)
  })

  it('[H7][RUN-14] returns the kind and counts the members of the outermost object alone', () => {
    expect(scanJson(' {"a":{"b":1,"c":2},"d":[{"e":1}],"a":2} ')).toEqual({ kind: 'object', count: 3 })
    expect(scanJson('[{"a":1}]')).toEqual({ kind: 'array', count: 0 })
    expect(scanJson('"{"')).toEqual({ kind: 'scalar', count: 0 })
  })

  it('[H7][RUN-14] has a bound on nesting', () => {
    expect(scanJson(nested(MAX_JSON_DEPTH))).toEqual({ kind: 'array', count: 0 })
    expect(scanJson(nested(MAX_JSON_DEPTH + 1))).toBeNull()
    expect(scanJson('['.repeat(10_000_000))).toBeNull()
  })
})
