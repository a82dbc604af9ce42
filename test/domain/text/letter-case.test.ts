import { oneCase } from '../../../src/domain/text/letter-case.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('[ADM-1] upper and lower case', () => {
  it('count as the same letter', () => {
    expect(oneCase('Kim.SATO@Example.COM')).toBe('kim.sato@example.com')
    expect(oneCase('\u00c9VA@\u041f\u041e\u0427\u0422\u0410.\u0420\u0424')).toBe('\u00e9va@\u043f\u043e\u0447\u0442\u0430.\u0440\u0444')
  })

  it.each(['\u212a', '\u212b', '\u2126', '\u0130', '\u1e9e', '\u017f', '\uff53'])(
    'leave letters other than A to Z unchanged: %s',
    (letter) => {
      expect(oneCase(letter)).toBe(letter)
    },
  )

  it('make a to z of the 52 Latin letters alone', () => {
    const small = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter((letter) =>
      /^[a-z]$/.test(oneCase(letter)),
    )
    expect(small.toSorted().join('')).toBe([...'AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz'].toSorted().join(''))
  })
})
