import type { DockerEngine } from '../../engine/engine.ts'
import type { Layer } from '../layers/fetch-layer.ts'
import { digestOfName, PULLED_REPOSITORY, pulledName } from '../names.ts'
import { FRESH_MS, type PulledImages } from './pulled-images.ts'

export interface HeldImagesDeps {
  engine: Pick<DockerEngine, 'imageFacts' | 'listTags'>
  pulled: PulledImages
  now(): number
}

/**
 * Reconciles the agent's record with the pulled images in the engine's store (HOST-102). An engine may complete a cancelled load, and an
 * agent may lose its record: no workload may start from such images, but they are counted, and removed when space is needed.
 */
export async function recallImages({ engine, pulled, now }: HeldImagesDeps): Promise<void> {
  const remembered = pulled.all()
  const held = new Map((await engine.listTags(PULLED_REPOSITORY)).map(({ name, bytes }) => [digestOfName(name), bytes]))
  for (const image of remembered) if (!held.has(image.digest)) pulled.dropLost(image)
  for (const [digest, bytes] of held) {
    if (pulled.get(digest) !== undefined) continue
    const facts = await engine.imageFacts(pulledName(digest))
    // Older than `FRESH_MS`, because no workload has asked for it.
    if (facts !== undefined && pulled.get(digest) === undefined) {
      pulled.add(digest, layersOf(facts.layers, bytes, pulled), now() - FRESH_MS)
    }
  }
}

/**
 * Returns the layers of an image from the engine's facts. Bytes that belong to no known layer are counted for the highest unknown one,
 * which is shared least, so that nothing is counted too small.
 */
function layersOf(diffIds: readonly string[], bytes: number, pulled: PulledImages): Layer[] {
  const known = pulled.layerBytes()
  const unknown = diffIds.findLastIndex((diffId) => !known.has(diffId))
  const highest = unknown < 0 ? diffIds.length - 1 : unknown
  const rest = diffIds.reduce((left, diffId) => left - (known.get(diffId) ?? 0), bytes)
  return diffIds.map((diffId, index) => {
    const unpackedBytes = (known.get(diffId) ?? 0) + (index === highest ? Math.max(0, rest) : 0)
    return { digest: diffId, diffId, packedBytes: 0, unpackedBytes }
  })
}
