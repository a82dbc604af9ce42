import { describe, expect, test } from 'vitest'
import type { PulledImage } from '../../../src/host-agent/pulls/space/pulled-images.ts'
import { removalOrder } from '../../../src/host-agent/pulls/space/removal-order.ts'

const imageOf = (digest: string, usedAtMs: number, ...usedBy: string[]): PulledImage => ({
  digest,
  publicTexts: [],
  places: [],
  layers: [{ digest: `sha256:${digest}`, diffId: `of ${digest}`, packedBytes: 0, unpackedBytes: 0 }],
  usedAtMs,
  usedBy,
})

function order(account: string, bytes: Record<string, number>, images: readonly PulledImage[]): string[] {
  const layerBytes = new Map(Object.entries(bytes).map(([digest, size]) => [`of ${digest}`, size]))
  return removalOrder({ account, images, layerBytes, max: { bytes: 100 } }, images).map(({ digest }) => digest)
}

describe('[HOST-149] the order of eviction of images', () => {
  test('images of an account above its share first, its latest too, before the oldest of an account with few', () => {
    const images = [imageOf('ada', 1, 'ada'), imageOf('eve2', 30, 'eve'), imageOf('eve1', 20, 'eve')]
    expect(order('eve', { ada: 20, eve1: 40, eve2: 30 }, images)).toEqual(['eve1', 'eve2', 'ada'])
    // Whichever account pulls, the one above its share loses images.
    expect(order('ada', { ada: 20, eve1: 40, eve2: 30 }, images)).toEqual(['eve1', 'eve2', 'ada'])
  })

  test('the oldest first while no account is above its share', () => {
    const images = [imageOf('ada', 1, 'ada'), imageOf('eve', 30, 'eve'), imageOf('bob', 10, 'bob')]
    expect(order('eve', { ada: 20, eve: 30, bob: 30 }, images)).toEqual(['ada', 'bob', 'eve'])
  })

  test('an image that other accounts use as well does not count for one account alone', () => {
    const images = [imageOf('shared', 1, 'eve', 'ada'), imageOf('eve', 30, 'eve'), imageOf('bob', 2, 'bob')]
    expect(order('eve', { shared: 10, eve: 60, bob: 45 }, images)).toEqual(['eve', 'bob', 'shared'])
  })

  test('images that no account has started from go early, and a single account loses its oldest', () => {
    expect(order('eve', { lost: 10, eve: 20 }, [imageOf('eve', 1, 'eve'), imageOf('lost', 5)])).toEqual(['lost', 'eve'])
    expect(order('eve', { a: 50, b: 60 }, [imageOf('b', 2, 'eve'), imageOf('a', 1, 'eve')])).toEqual(['a', 'b'])
  })
})

test('[S19] [SHR-35] where the number of images is the limit, accounts above an even part lose theirs first, however small', () => {
  const many = Array.from({ length: 6 }, (_, number) => imageOf(`eve${number}`, 10 + number, 'eve'))
  const images = [imageOf('ada', 1, 'ada'), ...many]
  const layerBytes = new Map(images.map(({ digest }) => [`of ${digest}`, digest === 'ada' ? 1_000 : 1]))
  const first = (account: string, max: { images: number } | { bytes: number }) =>
    removalOrder({ account, images, layerBytes, max }, images)[0]?.digest
  expect([first('bob', { images: 9 }), first('eve', { images: 9 })]).toEqual(['eve0', 'eve0'])
  // An even part of 18 is six for each of three accounts, and of bytes eve has few.
  expect([first('bob', { images: 18 }), first('bob', { bytes: 1_500 })]).toEqual(['ada', 'ada'])
})
