import { expect, test } from 'vitest'
import { faultOfPublicKey } from '../../../src/domain/host/public-key.ts'
import { SMALL_ORDER_KEYS } from '../../support/access/small-order-keys.ts'

const bytes = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

test.each(SMALL_ORDER_KEYS)('[L2] [HOST-79] a key of small order is refused in every encoding: %s', (hex) => {
  expect(faultOfPublicKey(bytes(hex))).not.toBeNull()
})

test('[HOST-79] keys of both signs pass, others by a byte too', () => {
  // The first test vectors of RFC 8032.
  const sound = [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ]
  expect(sound.map((hex) => faultOfPublicKey(bytes(hex)))).toEqual([null, null, null, null])
  expect(faultOfPublicKey(bytes('00'.repeat(31)))).toBe('has 31 bytes instead of 32')
})
