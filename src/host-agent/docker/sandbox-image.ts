import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DockerEngine } from '../engine/engine.ts'
import { makeProbeImage } from '../probe/probe-image.ts'
import { SingleFlight } from '../single-flight.ts'

const LOADED_WITHIN_MS = 60_000

export interface SandboxImageDeps {
  engine: Pick<DockerEngine, 'imageFacts' | 'load'>
  /** Distinguishes this agent from others on the same engine. */
  key: string
  stateDir: string
}

/**
 * Returns a function that returns the name of the image of sandboxes, and loads it when the engine lacks it. The members of a host's first
 * cluster call at the same time and share one load (HOST-171).
 */
export function sandboxImage({ engine, key, stateDir }: SandboxImageDeps): () => Promise<string> {
  const loads = new SingleFlight<string>()
  const load = async () => {
    const tag = `podplane-sandbox:${key}`
    if ((await engine.imageFacts(tag)) !== undefined) return tag
    const dir = join(stateDir, 'sandbox')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    await engine.load(await makeProbeImage(dir, tag, 'waits'), AbortSignal.timeout(LOADED_WITHIN_MS))
    return tag
  }
  return () => loads.run('', load)
}
