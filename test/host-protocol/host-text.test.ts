import fc from 'fast-check'
import { hostText } from '../../src/host-protocol/host-text.ts'
import { OverlayGap, OverlayInventory } from '../../src/host-protocol/overlays.ts'
import { describe, expect, it } from '../support/unit.ts'

describe('[HOST-190] words of a host', () => {
  it('keep what can be read, and lose what writes to a terminal, turns text or stands nowhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const read = hostText(200).parse(text)
        expect(read).not.toMatch(/[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u)
        expect(hostText(200).parse(read)).toBe(read)
      }),
    )
    expect(hostText(20).parse('é 日本 👩‍🚀 a\tb\nc')).toBe('é 日本 👩‍🚀 a b c')
  })

  it('are refused beyond their length', () => {
    expect(hostText(5).safeParse('123456').success).toBe(false)
    expect(hostText(5, 1).safeParse('').success).toBe(false)
  })

  it('are those of every reason that networks of hosts have', () => {
    const inventory = { address: null, reason: '\u001b[2J', encryption: 'none', encryptionReason: 'a\u202eb' }
    expect(OverlayInventory.parse(inventory)).toMatchObject({ reason: ' [2J', encryptionReason: 'a b' })
    expect(OverlayGap.parse({ from: 'a', to: 'b', reason: 'x\ny' }).reason).toBe('x y')
  })
})
