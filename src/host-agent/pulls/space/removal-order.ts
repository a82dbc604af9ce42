import { bytesOf, type PulledImage } from './pulled-images.ts'

/** What is known when room has to be made for an account. */
export interface RemovalScene {
  /** Who needs the room. */
  account: string
  /** All images of the host, those in use too. */
  images: readonly PulledImage[]
  /** What each layer takes. */
  layerBytes: ReadonlyMap<string, number>
  maxBytes: number
}

/**
 * Which images go first when an account needs room (HOST-149). Accounts whose images take more than an even part lose theirs before others do,
 * and the one that asks before all: who pulls much removes what he pulled before. Among equals the least recently used goes. Pure.
 */
export function removalOrder(scene: RemovalScene, removable: readonly PulledImage[]): PulledImage[] {
  const isOver = judgeParts(scene)
  const rankOf = ({ usedBy }: PulledImage): number => {
    if (!usedBy.every(isOver)) return 2
    return usedBy.length === 1 && usedBy[0] === scene.account ? 0 : 1
  }
  return removable
    .map((image) => ({ image, rank: rankOf(image) }))
    .toSorted((a, b) => a.rank - b.rank || a.image.usedAtMs - b.image.usedAtMs)
    .map(({ image }) => image)
}

/** Whether the images that an account has started from take more than its part of the space. */
function judgeParts({ account, images, layerBytes, maxBytes }: RemovalScene): (account: string) => boolean {
  const layersBy = new Map<string, string[]>([[account, []]])
  for (const { usedBy, layers } of images) {
    for (const user of usedBy) layersBy.set(user, [...(layersBy.get(user) ?? []), ...layers.map(({ diffId }) => diffId)])
  }
  const part = maxBytes / layersBy.size
  return (user) => bytesOf(layersBy.get(user) ?? [], layerBytes) > part
}
