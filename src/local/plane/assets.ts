import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { hasCode } from '../../node/fail.ts'

const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** A request for a file of the console. */
export interface AssetRequest {
  method: string
  url: string
  headers: { get(name: string): string | null }
}

/** The response with a file of the console. */
export interface Asset {
  status: number
  headers: Record<string, string>
  body: Uint8Array | null
}

/**
 * Replaces the static-asset service of a deployed plane, with the same URLs and validators. The service itself would sit in front of every
 * request and cost more than half of the throughput.
 */
export async function serveAsset(root: string, request: AssetRequest): Promise<Asset> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' }, body: null }
  const found = await findFile(root, new URL(request.url).pathname)
  if (found === undefined) return { status: 404, headers: {}, body: null }
  const etag = `"${createHash('sha256').update(found.content).digest('hex').slice(0, 32)}"`
  const headers = {
    'content-type': CONTENT_TYPES[extname(found.path)] ?? 'application/octet-stream',
    'cache-control': 'public, max-age=0, must-revalidate',
    etag,
  }
  if (request.headers.get('if-none-match') === etag) return { status: 304, headers, body: null }
  return { status: 200, headers, body: request.method === 'HEAD' ? null : found.content }
}

async function findFile(root: string, pathname: string): Promise<{ path: string; content: Uint8Array } | undefined> {
  const name = decodePath(pathname)
  if (name === undefined) return undefined
  const candidates = name.endsWith('/') ? [`${name}index.html`] : [name, `${name}.html`, `${name}/index.html`]
  for (const candidate of candidates) {
    const path = join(root, candidate)
    if (!path.startsWith(root + sep)) return undefined
    const content = await readIfFile(path)
    if (content !== undefined) return { path, content }
  }
  return undefined
}

function decodePath(pathname: string): string | undefined {
  try {
    const name = decodeURIComponent(pathname)
    return name.includes('\0') ? undefined : name
  } catch {
    return undefined
  }
}

async function readIfFile(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EISDIR') || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  }
}
