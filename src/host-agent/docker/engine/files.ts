import type Docker from 'dockerode'
import type { DockerEngine } from '../../engine/engine.ts'
import { orUndefined } from '../../engine/engine-errors.ts'
import { BLOCK_BYTES, isExtension, readTarHeader } from '../../pulls/layers/tar-header.ts'

/** Upper bound of the headers and padding that an archive adds to one file. */
const ARCHIVE_BYTES = 64 * 1024
const PLAIN_TYPES = ['\0', '0']

/** The engine calls for single files of a container. */
export function fileCalls(docker: Docker): Pick<DockerEngine, 'putFiles' | 'readFile'> {
  return {
    putFiles: async (name, archive) => {
      await docker.getContainer(name).putArchive(Buffer.from(archive, 'base64'), { path: '/', noOverwriteDirNonDir: '1' })
    },
    readFile: async (name, path, maxBytes) => {
      const archive = await orUndefined(docker.getContainer(name).getArchive({ path }))
      return archive === undefined ? undefined : await readOneFile(archive as NodeJS.ReadableStream as AsyncIterable<Buffer>, maxBytes)
    },
  }
}

/** Contents of the regular file in an archive; undefined for another kind of file, or one longer than `maxBytes`. */
async function readOneFile(archive: AsyncIterable<Buffer>, maxBytes: number): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of archive) {
    bytes += piece.length
    if (bytes > maxBytes + ARCHIVE_BYTES) return undefined
    pieces.push(piece)
  }
  const whole = Buffer.concat(pieces)
  for (let at = 0; at + BLOCK_BYTES <= whole.length; ) {
    const header = readTarHeader(whole.subarray(at, at + BLOCK_BYTES))
    const content = at + BLOCK_BYTES
    if (!isExtension(header)) {
      const isFile = PLAIN_TYPES.includes(header.type) && header.bytes <= maxBytes
      return isFile ? whole.toString('utf8', content, content + header.bytes) : undefined
    }
    at = content + Math.ceil(header.bytes / BLOCK_BYTES) * BLOCK_BYTES
  }
  return undefined
}
