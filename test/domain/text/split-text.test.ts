import { splitText } from '../../../src/domain/text/split-text.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('splitText', () => {
  it('[SECRET-1] pieces concatenate to the text, none is too long, and none divides a character', () => {
    const texts = ['', 'a', 'abcd', 'aé€😀b', '😀😀😀', '\ufeffabc\ufeff', 'ab€', `${'x'.repeat(9)}€`]
    for (const text of texts) {
      for (const maxBytes of [4, 5, 7, 100]) {
        const pieces = splitText(text, maxBytes)
        expect(pieces.join('')).toBe(text)
        expect(pieces.filter((piece) => new TextEncoder().encode(piece).byteLength > maxBytes)).toEqual([])
        expect(pieces.filter((piece) => !piece.isWellFormed())).toEqual([])
      }
    }
    expect(splitText('', 4)).toEqual([])
    expect(splitText('abcdefgh', 4)).toEqual(['abcd', 'efgh'])
  })
})
