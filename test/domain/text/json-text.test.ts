import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { jsonMembers, repairPythonJson } from '../../../src/domain/text/json-text.ts'

test('members keep their text byte for byte', () => {
  const members = jsonMembers(' { "input" : {"n": 1.0, "big":12345678901234567890 } ,"in\\u0070ut2":[1,{"a":"}]\\\\"}] , "s":"x\\"y"}\n', [
    'input',
    'input2',
    's',
  ])
  expect(members?.get('input')).toBe('{"n": 1.0, "big":12345678901234567890 }')
  expect(members?.get('input2')).toBe('[1,{"a":"}]\\\\"}]')
  expect(members?.get('s')).toBe('"x\\"y"')
})

test('a repeated name keeps its last value, as JSON.parse does', () => {
  expect(jsonMembers('{"a":1,"a":{"b":2}}', ['a'])?.get('a')).toBe('{"b":2}')
})

test.each(['', '[]', '1', 'null', '{', '{"a":}', '"x"'])('%j is no object', (text) => {
  expect(jsonMembers(text, ['a'])).toBeNull()
})

test('any object: each member parses to the same value as with JSON.parse', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (object, indent) => {
      const text = JSON.stringify(object, null, indent)
      const parsed = JSON.parse(text) as Record<string, unknown>
      const members = jsonMembers(text, Object.keys(parsed))
      expect([...(members?.keys() ?? [])].sort()).toEqual(Object.keys(parsed).sort())
      for (const [name, value] of members ?? []) expect(JSON.parse(value)).toEqual(parsed[name])
    }),
  )
})

test('[WRK-5] NaN and Infinity are read as null outside strings only', () => {
  expect(repairPythonJson('{"output":[NaN,-Infinity,Infinity,"NaN \\" Infinity"]}')).toBe('{"output":[null,null,null,"NaN \\" Infinity"]}')
})

test('[WRK-50] Python texts of very many strings or words are repaired in few pieces', () => {
  const slice = vi.spyOn(String.prototype, 'slice')
  const piecesOf = (text: string, repaired: string) => {
    slice.mockClear()
    expect(repairPythonJson(text) === repaired).toBe(true)
    return slice.mock.calls.length
  }
  const count = 100_000
  const strings = `[${'"NaN",'.repeat(count)}`
  const plain = `[${'"",'.repeat(count)}`
  const words = (word: string) => `[${`${word},`.repeat(count)}"NaN"`
  expect([piecesOf(strings, strings), piecesOf(plain, plain)]).toEqual([0, 0])
  expect(piecesOf(words('NaN'), words('null'))).toBeLessThan(100)
  expect(piecesOf(words('-Infinity'), words('null'))).toBeLessThan(100)
  slice.mockRestore()
})
