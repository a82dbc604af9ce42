import { createHash } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '../../node/json-file.ts'
import { PullError } from './pull-error.ts'

/** The maximum that the engines' storage drivers accept. */
const LAYERS_MAX = 127
const PLATFORMS_MAX = 1_024
const INDEX_TYPES: readonly string[] = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
const MANIFEST_TYPES: readonly string[] = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
export const ACCEPTED_TYPES = [...INDEX_TYPES, ...MANIFEST_TYPES].join(', ')

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const Descriptor = z.object({ digest: Digest, size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER) })
export type Descriptor = z.infer<typeof Descriptor>

const Platform = z.object({ architecture: z.string(), os: z.string(), variant: z.string().optional() })
const Index = z.object({ manifests: z.array(Descriptor.extend({ platform: Platform.optional() })).max(PLATFORMS_MAX) })
// Layers with `urls` are refused: they would be fetched from any address that a manifest names.
const Layer = Descriptor.extend({ urls: z.array(z.string()).max(0).optional() })
export const Manifest = z.object({ config: Descriptor, layers: z.array(Layer).max(LAYERS_MAX) })
export type Manifest = z.infer<typeof Manifest>

const Config = z.object({
  architecture: z.string().optional(),
  os: z.string().optional(),
  rootfs: z.object({ diff_ids: z.array(Digest).max(LAYERS_MAX) }),
})

/** A manifest document is one image, or a list with one image for each platform. */
export type ManifestDocument = { kind: 'image'; manifest: Manifest } | { kind: 'index'; digest: string }

/** Parses a manifest as a registry returned it. From a list it selects the entry for this platform. Throws a `PullError`. */
export function readManifest(bytes: Buffer, mediaType: string, platform: string): ManifestDocument {
  const json = readJson(bytes)
  const stated = typeof json === 'object' && json !== null && 'mediaType' in json ? String(json.mediaType) : mediaType
  if (INDEX_TYPES.includes(stated)) return { kind: 'index', digest: chooseOf(parse(Index, json).manifests, platform) }
  if (MANIFEST_TYPES.includes(stated)) return { kind: 'image', manifest: parse(Manifest, json) }
  throw new PullError('unusable', `a manifest of the type ${stated.slice(0, 128)}`)
}

/**
 * Returns the digests of the uncompressed layers. Throws a `PullError` when they do not match the manifest or the image is for another
 * platform. Engines in a virtual machine (Docker Desktop) emulate other platforms.
 */
export function readConfig(bytes: Buffer, manifest: Manifest, platform: string): string[] {
  const { architecture, os, rootfs } = parse(Config, readJson(bytes))
  if (rootfs.diff_ids.length !== manifest.layers.length) throw new PullError('unusable', 'manifest and configuration do not fit each other')
  const isOurs = (os ?? 'linux') === 'linux' && (process.platform !== 'linux' || (architecture ?? platform) === platform)
  if (!isOurs) throw new PullError('unusable', `for ${os}/${architecture}, and this machine is linux/${platform}`)
  return rootfs.diff_ids
}

/** Returns the registries' name for this machine's architecture. */
export function machinePlatform(arch: string = process.arch): string {
  return arch === 'x64' ? 'amd64' : arch
}

/** Digest of content in the form of registries: `sha256:` and 64 hexadecimal digits. */
export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function chooseOf(manifests: z.infer<typeof Index>['manifests'], architecture: string): string {
  const fitting = manifests.filter(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture)
  const chosen = fitting.find(({ platform }) => platform?.variant === undefined || platform.variant === 'v8') ?? fitting[0]
  if (chosen === undefined) throw new PullError('unusable', `the image has no variant for linux/${architecture}`)
  return chosen.digest
}

function parse<T>(schema: z.ZodType<T>, json: unknown): T {
  const { data, error } = schema.safeParse(json)
  if (data === undefined) throw new PullError('unusable', `not as a registry should answer: ${error?.issues[0]?.path.join('.')}`)
  return data
}

function readJson(bytes: Buffer): unknown {
  const json = parseJson(bytes.toString())
  if (json === undefined) throw new PullError('unusable', 'what should be JSON is none')
  return json
}
