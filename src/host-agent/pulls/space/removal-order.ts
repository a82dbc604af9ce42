import { bytesOf, type PulledImage } from './pulled-images.ts'

/** What is known when room has to be made for an account. */
export interface RemovalScene {
  /** Who needs the room. */
  account: string
  /** All images of the host, those in use too. */
  images: readonly PulledImage[]
  /** What each layer takes. */
  layerBytes: ReadonlyMap<string, number>
  /** All that there is of what is short: bytes, or images by number (SHR-35). */
  max: { bytes: number } | { images: number }
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

/** Whether the images that an account has started from are more than its part of what is short. */
function judgeParts({ account, images, layerBytes, max }: RemovalScene): (account: string) => boolean {
  const imagesBy = new Map<string, PulledImage[]>([[account, []]])
  for (const image of images) for (const user of image.usedBy) imagesBy.set(user, [...(imagesBy.get(user) ?? []), image])
  const own = (user: string) => imagesBy.get(user) ?? []
  if ('images' in max) return (user) => own(user).length > max.images / imagesBy.size
  const layersOf = (user: string) => own(user).flatMap(({ layers }) => layers.map(({ diffId }) => diffId))
  return (user) => bytesOf(layersOf(user), layerBytes) > max.bytes / imagesBy.size
}
