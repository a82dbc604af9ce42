import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { OperatorError } from '../../node/fail.ts'
import { type Bucket, parseBucket } from './bucket.ts'

/** `nfs://server/export`. */
export interface NfsExport {
  server: string
  directory: string
}

/** Storage behind the shared volumes of a host; undefined: the host offers none of that kind. */
export interface SharedStorage {
  /** A directory of this machine, or an export that the container engine mounts. */
  networkVolumes: string | NfsExport | undefined
  /** A directory of this machine, or a bucket that the agent mounts. */
  globalVolumes: string | Bucket | undefined
}

const SERVER = /^[A-Za-z0-9.:-]+$/
/** Commas and white space would end a mount option. */
const EXPORT = /^(\/[A-Za-z0-9._-]+)+$/

/**
 * Parses `--volume-dir` or another flag with a directory that must exist: a missing mount must not go unnoticed. Throws an `OperatorError`.
 */
export function parseDirectoryFlag(flag: string, text: string): string {
  const path = resolve(text)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`${flag} ${path} is not a directory; create it, or mount the file system there, first`)
  }
  return path
}

/** Parses `--network-volumes <dir | nfs://server/export>`. Throws an `OperatorError`. */
export function parseNetworkVolumes(text: string): string | NfsExport {
  if (!text.startsWith('nfs://')) return parseDirectoryFlag('--network-volumes', text)
  const rest = text.slice('nfs://'.length).replace(/\/+$/, '')
  const slash = rest.indexOf('/')
  const nfs = { server: rest.slice(0, slash), directory: rest.slice(slash) }
  if (slash < 1 || !SERVER.test(nfs.server) || !EXPORT.test(nfs.directory) || nfs.directory.split('/').includes('..')) {
    throw new OperatorError(
      `--network-volumes '${text}' is not an NFS export; write nfs://<server>/<exported directory>, or name a directory`,
    )
  }
  return nfs
}

/** Parses `--global-volumes <dir | s3://bucket/prefix>`. Throws an `OperatorError`. */
export function parseGlobalVolumes(text: string): string | Bucket {
  if (text.startsWith('s3://')) return parseBucket(text)
  if (/^[a-z0-9+.-]+:\/\//i.test(text)) {
    throw new OperatorError(
      `--global-volumes '${text}' is an address; name a directory, or a bucket as s3://<bucket>/<prefix>?endpoint=<url> (docs/volumes.md)`,
    )
  }
  return parseDirectoryFlag('--global-volumes', text)
}
