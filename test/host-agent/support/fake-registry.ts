import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { archiveOf } from './tar.ts'

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

export interface LayerContent {
  packed: Buffer
  diffId: string
}

export interface ImageContent {
  manifest: Buffer
  blobs: ReadonlyMap<string, Buffer>
  /** Of the manifest. */
  digest: string
  diffIds: string[]
  layerDigests: string[]
}

export function sha256(content: Buffer | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** A layer that holds one file. */
export function layerOf(content: Buffer | string, pack: (bytes: Buffer) => Buffer = gzipSync): LayerContent {
  return rawLayer(archiveOf({ name: 'file', content }), pack)
}

/** A layer of some bytes, which need not be an archive to a registry. */
export function rawLayer(content: Buffer, pack: (bytes: Buffer) => Buffer = gzipSync): LayerContent {
  return { packed: pack(content), diffId: sha256(content) }
}

/** `lie` has the wrong statements of the manifest and the configuration. */
export function imageOf(
  layers: readonly LayerContent[],
  lie: { diffIds?: string[]; layers?: object[]; config?: object; size?: number } = {},
): ImageContent {
  const diffIds = lie.diffIds ?? layers.map(({ diffId }) => diffId)
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const config = Buffer.from(
    JSON.stringify({ architecture, os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: diffIds }, history: [], ...lie.config }),
  )
  const blobs = new Map([config, ...layers.map(({ packed }) => packed)].map((blob) => [sha256(blob), blob]))
  const part = (blob: Buffer) => ({ mediaType: 'application/octet-stream', size: lie.size ?? blob.length, digest: sha256(blob) })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { ...part(config), size: config.length },
      layers: lie.layers ?? layers.map(({ packed }) => part(packed)),
    }),
  )
  return { manifest, blobs, digest: sha256(manifest), diffIds, layerDigests: layers.map(({ packed }) => sha256(packed)) }
}

/** Handles a request in the registry's place; false: the registry goes on. */
export type Override = (request: IncomingMessage, response: ServerResponse) => boolean

/** A registry in memory that records its requests. Private repositories require its login. */
export class FakeRegistry {
  readonly requests: { method: string; path: string; authorization: string | undefined }[] = []
  login: { username: string; password: string } | undefined
  override: Override = () => false
  private readonly manifests = new Map<string, Buffer>()
  private readonly blobs = new Map<string, Buffer>()
  private readonly hidden = new Set<string>()
  private readonly server = createServer((request, response) => this.answer(request, response))

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  /** Blobs that are in no image of a repository are not in it. `isPrivate`: the login is required. */
  push(name: string, image: ImageContent, { isPrivate = false, without = [] as string[] } = {}): string {
    const [repository = '', tag = ''] = name.split(':')
    this.manifests.set(`${repository}/${tag}`, image.manifest)
    this.manifests.set(`${repository}/${image.digest}`, image.manifest)
    for (const [digest, blob] of image.blobs) if (!without.includes(digest)) this.blobs.set(`${repository}/${digest}`, blob)
    if (isPrivate) this.hidden.add(repository)
    return `${this.host}/${name}`
  }

  /** An index under a tag, with an image for this machine and one for another platform. */
  pushIndex(name: string, image: ImageContent): string {
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch
    const entry = (arch: string, digest: string) => ({
      digest,
      size: 1,
      mediaType: MANIFEST,
      platform: { os: 'linux', architecture: arch },
    })
    const manifests = [entry('s390x', sha256('other')), entry(architecture, image.digest)]
    this.manifests.set(name.replace(':', '/'), Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests })))
    return `${this.host}/${name}`
  }

  /** Methods and paths of the requests whose line contains `part`. */
  paths(part = ''): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`).filter((line) => line.includes(part))
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '' } = request
    this.requests.push({ method, path, authorization: request.headers.authorization })
    if (this.override(request, response)) return
    const [, repository = '', kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(path) ?? []
    if (this.hidden.has(repository) && request.headers.authorization !== this.basic()) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="fake"' }).end('{"errors":[{"code":"UNAUTHORIZED"}]}')
    }
    const content = (kind === 'manifests' ? this.manifests : this.blobs).get(`${repository}/${reference}`)
    if (content === undefined) return void response.writeHead(404).end('<h1>internal words</h1>')
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const body = content.subarray(from)
    const type = kind === 'manifests' ? JSON.parse(content.toString()).mediaType : 'application/octet-stream'
    response.writeHead(from > 0 ? 206 : 200, { 'content-type': type, 'content-length': body.length })
    response.end(method === 'HEAD' ? undefined : body)
  }

  private basic(): string {
    return `Basic ${Buffer.from(`${this.login?.username}:${this.login?.password}`).toString('base64')}`
  }
}
