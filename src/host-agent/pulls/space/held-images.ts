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
 * Brings what is remembered in line with what the engine holds of this agent's (HOST-102). An engine may finish a load that was given up, and
 * an agent may have lost its memory: such images are nobody's to run, but they count, and go when room is needed.
 */
export async function recallImages({ engine, pulled, now }: HeldImagesDeps): Promise<void> {
  const remembered = pulled.all()
  const held = new Map((await engine.listTags(PULLED_REPOSITORY)).map(({ name, bytes }) => [digestOfName(name), bytes]))
  for (const image of remembered) if (!held.has(image.digest)) pulled.forgetLost(image)
  for (const [digest, bytes] of held) {
    if (pulled.get(digest) !== undefined) continue
    const facts = await engine.imageFacts(pulledName(digest))
    // Not fresh: nobody has asked for it.
    if (facts !== undefined && pulled.get(digest) === undefined) {
      pulled.add(digest, layersOf(facts.layers, bytes, pulled), now() - FRESH_MS)
    }
  }
}

/** Its layers by what the engine says. What is not known to lie in others lies in the highest, which is shared least: nothing counts too little. */
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
