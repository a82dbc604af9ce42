import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { parseJson } from '../../../node/json-file.ts'
import type { ContainerConfig, DockerEngine, SavedImage } from '../../engine/engine.ts'
import { ignoring, orUndefined } from '../../engine/engine-errors.ts'
import { imageEntries, tarOf } from '../../pulls/layers/archive.ts'

type ImageCalls = Pick<
  DockerEngine,
  'commit' | 'countLayers' | 'flatten' | 'imageFacts' | 'listImages' | 'listTags' | 'load' | 'removeImage'
>

/** The image calls of the engine. */
export function imageCalls(docker: Docker): ImageCalls {
  return {
    imageFacts: async (image) => {
      const found = await orUndefined(docker.getImage(image).inspect())
      if (found === undefined) return undefined
      // The engine sends null for an image without tags or digests.
      const { Id, RepoTags, RepoDigests, RootFS } = found as Partial<Docker.ImageInspectInfo> & { Id: string }
      return { id: Id, names: [...(RepoTags ?? []), ...(RepoDigests ?? [])], layers: RootFS?.Layers ?? [] }
    },
    load: (image, signal) => loadImage(docker, image, signal),
    commit: async (name, { repository, tag, label }) => {
      await docker.getContainer(name).commit({ repo: repository, tag, pause: false, changes: `LABEL ${label}` })
    },
    countLayers: async (name) => {
      const image = (await orUndefined(docker.getContainer(name).inspect()))?.Image
      const found = image === undefined ? undefined : await orUndefined(docker.getImage(image).inspect())
      return found?.RootFS.Layers?.length ?? 0
    },
    flatten: async (name, { repository, tag, label }) => {
      const { Config } = await docker.getContainer(name).inspect()
      const files = await docker.getContainer(name).export()
      const progress = await docker.importImage(files, { repo: repository, tag, changes: `LABEL ${label}` })
      await readProgress(progress)
      return configOf(Config)
    },
    listImages: async (label) => {
      const images = await docker.listImages({ filters: { label: [label] } })
      return images.flatMap(({ Id, RepoTags }) => {
        const tags = (RepoTags ?? []).filter((tag) => tag !== '<none>:<none>')
        return tags.length > 0 ? tags : [Id]
      })
    },
    listTags: async (repository) => {
      const images = await docker.listImages({ filters: { reference: [`${repository}:*`] } })
      return images.flatMap(({ RepoTags, Size }) => {
        const names = (RepoTags ?? []).filter((name) => name.startsWith(`${repository}:`))
        return names.map((name) => ({ name, bytes: Size }))
      })
    },
    // 409: another image or a container is based on it, and its removal removes this one.
    removeImage: (image) => ignoring([404, 409], docker.getImage(image).remove()),
  }
}

async function loadImage(docker: Docker, { config, layers, tag }: SavedImage, signal: AbortSignal): Promise<void> {
  const entries = imageEntries({ config: Buffer.from(config, 'base64'), layers: layers.map((layer) => layer ?? undefined), tag })
  const archive = Readable.from(tarOf(entries))
  try {
    await readProgress(await docker.loadImage(archive, { quiet: true, abortSignal: signal }))
  } finally {
    archive.destroy()
  }
}

/** The declared type lacks some fields that the engine sends. */
function configOf(config: Docker.ContainerInspectInfo['Config'] & { StopSignal?: string }): ContainerConfig {
  const { Env, Cmd, Entrypoint, WorkingDir, User, StopSignal, Healthcheck } = config
  const stated = { Env, Cmd, Entrypoint, WorkingDir, User, StopSignal, Healthcheck }
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined && value !== null))
}

/** Limit of a progress line; the engine's own lines are short. */
const MAX_PROGRESS_LINE_CHARS = 2 ** 20

/**
 * Reads the engine's progress to its end. The engine answers 200 before it knows whether a step succeeds; a line in the stream reports a
 * failure.
 */
export async function readProgress(progress: NodeJS.ReadableStream): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  let failure: string | undefined
  for await (const piece of progress as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_PROGRESS_LINE_CHARS) throw new Error("a line of the engine's progress is too long")
    for (const line of lines) failure ??= failureOf(line)
  }
  failure ??= failureOf(rest)
  if (failure !== undefined) throw new Error(failure)
}

function failureOf(line: string): string | undefined {
  if (line.trim() === '') return undefined
  const event = parseJson(line)
  if (event === undefined) return "the engine's progress cannot be read"
  return typeof event === 'object' && event !== null && 'error' in event ? String(event.error) : undefined
}
