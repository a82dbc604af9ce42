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
  return removalOrder({ account, images, layerBytes, maxBytes: 100 }, images).map(({ digest }) => digest)
}

describe('[HOST-149] images go in this order', () => {
  test('those of who pulls much first, his latest too, before the oldest of somebody who has little', () => {
    const images = [imageOf('ada', 1, 'ada'), imageOf('eve2', 30, 'eve'), imageOf('eve1', 20, 'eve')]
    expect(order('eve', { ada: 20, eve1: 40, eve2: 30 }, images)).toEqual(['eve1', 'eve2', 'ada'])
    // Whoever asks, it is he who has more than his part.
    expect(order('ada', { ada: 20, eve1: 40, eve2: 30 }, images)).toEqual(['eve1', 'eve2', 'ada'])
  })

  test('the oldest first while nobody has more than his part', () => {
    const images = [imageOf('ada', 1, 'ada'), imageOf('eve', 30, 'eve'), imageOf('bob', 10, 'bob')]
    expect(order('eve', { ada: 20, eve: 30, bob: 30 }, images)).toEqual(['ada', 'bob', 'eve'])
  })

  test('one that others use as well is not his alone', () => {
    const images = [imageOf('shared', 1, 'eve', 'ada'), imageOf('eve', 30, 'eve'), imageOf('bob', 2, 'bob')]
    expect(order('eve', { shared: 10, eve: 60, bob: 45 }, images)).toEqual(['eve', 'bob', 'shared'])
  })

  test('what nobody here has started from goes early, and one account alone loses its oldest', () => {
    expect(order('eve', { lost: 10, eve: 20 }, [imageOf('eve', 1, 'eve'), imageOf('lost', 5)])).toEqual(['lost', 'eve'])
    expect(order('eve', { a: 50, b: 60 }, [imageOf('b', 2, 'eve'), imageOf('a', 1, 'eve')])).toEqual(['a', 'b'])
  })
})
