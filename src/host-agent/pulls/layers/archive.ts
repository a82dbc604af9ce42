import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { tarEnd, tarHeader, tarPadding } from '../../../node/tar.ts'
import type { LayerFile } from '../../engine/engine.ts'
import { unpacked } from './unpack.ts'

const READ_BYTES = 2 ** 18

/** An entry of an archive: bytes or a layer. */
export interface Entry {
  name: string
  content: Buffer | LayerFile
  /** Whether it is executable. */
  isProgram?: boolean
  /** Permission bits, uid and gid; absent: readable by all and owned by root. */
  mode?: number
  uid?: number
  gid?: number
}

/**
 * Returns the entries of an image in the format of `docker save`, which every engine loads. Layers that the engine has already may be left
 * out.
 */
export function imageEntries(image: { config: Buffer; layers: readonly (Entry['content'] | undefined)[]; tag: string }): Entry[] {
  const names = image.layers.map((_, index) => `layer-${index}.tar`)
  const manifest = [{ Config: 'config.json', RepoTags: [image.tag], Layers: names }]
  return [
    { name: 'config.json', content: image.config },
    ...image.layers.flatMap((content, index) => (content === undefined ? [] : [{ name: names[index] ?? '', content }])),
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) },
  ]
}

/** Yields a tar archive of the entries in chunks. */
export async function* tarOf(entries: readonly Entry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const { content } = entry
    const bytes = Buffer.isBuffer(content) ? content.length : content.tarBytes
    yield headerOf(entry, bytes)
    if (Buffer.isBuffer(content)) yield content
    else yield* unpackedLayer(content)
    yield tarPadding(bytes)
  }
  yield tarEnd()
}

/**
 * Yields exactly the bytes that were measured (HOST-100), so that the engine unpacks nothing unmeasured. If the bytes differ, throws before
 * the archive ends, and the engine discards all of it.
 */
async function* unpackedLayer({ path, tarBytes, diffId }: LayerFile): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let left = tarBytes
  for await (const piece of unpacked(createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>)) {
    left -= piece.length
    if (left < 0) break
    hash.update(piece)
    yield piece
  }
  if (left !== 0 || `sha256:${hash.digest('hex')}` !== diffId) throw new Error(`a layer is not what was measured: ${diffId}`)
}

function headerOf({ name, isProgram = false, mode = isProgram ? 0o755 : 0o644, uid = 0, gid = 0 }: Entry, bytes: number): Buffer {
  return tarHeader({ name, mode, uid, gid }, bytes)
}
