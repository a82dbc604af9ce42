import { bytesOf, type PulledImage } from './pulled-images.ts'

/** The state in which space must be made for an account. */
export interface RemovalScene {
  /** The account that needs space. */
  account: string
  /** All images of the host, also those in use. */
  images: readonly PulledImage[]
  /** Bytes of each layer. */
  layerBytes: ReadonlyMap<string, number>
  /** Total of the scarce resource: bytes, or number of images (SHR-35). */
  max: { bytes: number } | { images: number }
}

/**
 * Orders images for removal when an account needs space (HOST-149). First those used only by accounts above an even part of the total, and
 * among these the ones that only the requesting account uses: an account that pulls much removes its own earlier images. Equals are ordered
 * by last use, oldest first. Pure.
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

/** Returns a predicate: whether the images that an account has started from exceed an even part of the total. */
function judgeParts({ account, images, layerBytes, max }: RemovalScene): (account: string) => boolean {
  const imagesBy = new Map<string, PulledImage[]>([[account, []]])
  for (const image of images) for (const user of image.usedBy) imagesBy.set(user, [...(imagesBy.get(user) ?? []), image])
  const own = (user: string) => imagesBy.get(user) ?? []
  if ('images' in max) return (user) => own(user).length > max.images / imagesBy.size
  const layersOf = (user: string) => own(user).flatMap(({ layers }) => layers.map(({ diffId }) => diffId))
  return (user) => bytesOf(layersOf(user), layerBytes) > max.bytes / imagesBy.size
}
