import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OverlayInventory } from '../../src/host-protocol/overlays.ts'

const LAST = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('')

function takes(publicKey: string): boolean {
  return OverlayInventory.safeParse({ address: '192.0.2.1', reason: null, encryption: 'wireguard', publicKey }).success
}

describe('[HOST-165] the key of a host', () => {
  test('is accepted in the one spelling of its bytes, and in no other', () => {
    for (const end of LAST) {
      const key = `${'a'.repeat(42)}${end}=`
      const isOwnSpelling = Buffer.from(key, 'base64').toString('base64') === key
      expect([key, takes(key)]).toEqual([key, isOwnSpelling])
    }
  })

  test('is accepted as every host makes it', () => {
    for (let made = 0; made < 50; made += 1) {
      const { x = '' } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
      expect(takes(Buffer.from(x, 'base64url').toString('base64'))).toBe(true)
    }
  })

  test.each(['', 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(43)}=\n`, `${'-'.repeat(43)}=`])('is not %j', (key) => {
    expect(takes(key)).toBe(false)
  })
})
