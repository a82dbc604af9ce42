import fc from 'fast-check'
import { describeJsonFault, jsonFault } from '../../../src/domain/text/json-fault.ts'
import { tryParse } from '../../../src/domain/text/json-text.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('[ERR-20] the place where a text stops being JSON', () => {
  it.each([
    ['', 'line 1, column 1: unexpected end'],
    ['{', 'line 1, column 2: unexpected end'],
    ['{"name":}', 'line 1, column 9: unexpected "}"'],
    ['{\n  "name": "a",\n}', 'line 3, column 1: unexpected "}"'],
    ["{'name': 1}", 'line 1, column 2: unexpected "\'"'],
    ['{"a": 1 "b": 2}', 'line 1, column 9: unexpected "\\""'],
    ['{"a": "open}', 'line 1, column 7: unexpected "\\""'],
    ['{"a": 01}', 'line 1, column 7: unexpected "0"'],
    ['[1, 2,]', 'line 1, column 7: unexpected "]"'],
    ['[1}', 'line 1, column 3: unexpected "}"'],
    ['{"a": NaN}', 'line 1, column 7: unexpected "N"'],
    ['{} {}', 'line 1, column 4: unexpected "{"'],
    ['{"a": "tab\there"}', 'line 1, column 7: unexpected "\\""'],
    ['{"a":1]', 'line 1, column 7: unexpected "]"'],
    ['{"a": 🦊}', 'line 1, column 7: unexpected "🦊"'],
    [':', 'line 1, column 1: unexpected ":"'],
  ])('%j', (text, described) => {
    const fault = jsonFault(text)
    expect(fault && describeJsonFault(fault)).toBe(described)
  })

  it('agrees with the parser on what is JSON', () => {
    const snippets = fc.array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"', '1', '-', '0', '.5', 'e1', 'true', ' ', '\n', '\\'))
    const valid = fc.jsonValue().map((value) => JSON.stringify(value))
    const changed = fc
      .tuple(valid, fc.nat(), fc.string({ maxLength: 2 }))
      .map(([text, at, piece]) => text.slice(0, at % (text.length + 1)) + piece + text.slice((at + 1) % (text.length + 1)))
    fc.assert(
      fc.property(
        fc.oneof(
          snippets.map((pieces) => pieces.join('')),
          valid,
          changed,
        ),
        (text) => {
          expect(jsonFault(text) === null).toBe(tryParse(text) !== undefined)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('reads a text as large as a body may be', () => {
    expect(jsonFault(JSON.stringify({ env: { A: 'a"\\\n'.repeat(25_000) } }))).toBeNull()
    expect(jsonFault('['.repeat(50_000) + ']'.repeat(50_000))).toBeNull()
  })
})
