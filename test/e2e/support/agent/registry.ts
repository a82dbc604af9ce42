import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const BLOCK_BYTES = 512

interface Blob {
  digest: string
  content: Buffer
}

/** A registry (API v2) of one private image, `pods/busybox:1`, that requires a name and a password. */
export class Registry {
  private readonly credential: string
  private readonly blobs = new Map<string, Blob>()
  private readonly manifest: Blob
  private readonly server = createServer((request, response) => this.answer(request, response))
  /** Requests that carried no, or a wrong, credential. */
  refused = 0
  served = 0

  constructor(username: string, password: string) {
    this.credential = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const tar = tarOf('bin/busybox', readFileSync('/bin/busybox'), 0o755)
    const layer = this.add(gzipSync(tar))
    const config = this.add(
      Buffer.from(
        JSON.stringify({
          architecture: process.arch === 'x64' ? 'amd64' : process.arch,
          os: 'linux',
          config: { Cmd: ['/bin/busybox', 'sh'] },
          rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
          history: [],
        }),
      ),
    )
    const part = (mediaType: string, { digest, content }: Blob) => ({ mediaType, size: content.length, digest })
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part('application/vnd.docker.container.image.v1+json', config),
      layers: [part('application/vnd.docker.image.rootfs.diff.tar.gzip', layer)],
    }
    this.manifest = this.add(Buffer.from(JSON.stringify(manifest)))
  }

  private add(content: Buffer): Blob {
    const blob = { digest: digestOf(content), content }
    this.blobs.set(blob.digest, blob)
    return blob
  }

  /** The image by its digest, under any name. */
  atDigest(name: string): string {
    return name.replace(/:1$/, `@${this.manifest.digest}`)
  }

  /** Returns the name of the image. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}/pods/busybox:1`
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization !== this.credential) {
      this.refused += 1
      response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"', 'content-type': 'application/json' })
      response.end(JSON.stringify({ errors: [{ code: 'UNAUTHORIZED', message: 'authentication required' }] }))
      return
    }
    this.served += 1
    const path = request.url ?? ''
    if (path === '/v2/') return void response.writeHead(200, { 'docker-distribution-api-version': 'registry/2.0' }).end('{}')
    const [, kind, reference = ''] = /^\/v2\/pods\/busybox\/(manifests|blobs)\/(.+)$/.exec(path) ?? []
    const blob = kind === 'manifests' && reference === '1' ? this.manifest : this.blobs.get(reference)
    if (blob === undefined) return void response.writeHead(404).end()
    const type = blob === this.manifest ? MANIFEST : 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'content-length': blob.content.length, 'docker-content-digest': blob.digest })
    response.end(request.method === 'HEAD' ? undefined : blob.content)
  }
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** A tar archive of one file. */
function tarOf(name: string, content: Buffer, mode: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(content.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)}\0 `, 148)
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES)
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * BLOCK_BYTES)])
}
