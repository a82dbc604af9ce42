import { compareVersions } from '../../domain/text/versions.ts'
import { cachePath, readCache, writeCache } from '../core/cache.ts'
import { CLI_VERSION } from '../core/version.ts'
import type { Session } from './session.ts'

const DAY_MS = 86_400_000

/** Whether the plane has another release; patch versions of one minor version are compatible. */
export function isSkewed(planeVersion: string): boolean {
  return minorOf(planeVersion) !== minorOf(CLI_VERSION)
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

/** Warns once a day if the releases of plane and program differ (CMD-9). */
export function warnOfSkew({ io, out }: Session, planeVersion: string): void {
  if (!isSkewed(planeVersion)) return
  const path = cachePath(io, 'version-skew')
  const before = (readCache(path) as { saidAtMs?: number } | undefined)?.saidAtMs ?? 0
  if (Math.abs(io.nowMs() - before) < DAY_MS) return
  out.talk(
    compareVersions(planeVersion, CLI_VERSION) > 0
      ? `the plane has release ${planeVersion} and this podplane has ${CLI_VERSION}: update podplane for the newer features`
      : `this podplane has release ${CLI_VERSION} and the plane has ${planeVersion}: the plane refuses newer features`,
  )
  try {
    writeCache(path, { saidAtMs: io.nowMs() })
  } catch {
    // The cache cannot be written, so the warning will be repeated.
  }
}
