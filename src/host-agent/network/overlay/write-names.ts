import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Overlay } from '../../../host-protocol/overlays.ts'
import { errorText } from '../../../node/fail.ts'
import type { Log } from '../../log.ts'
import type { Attachment } from './attachment.ts'
import { withNames } from './hosts-file.ts'

/**
 * Writes the names of all members into a container's `/etc/hosts` (NET-44). The file is mounted into the container, so it is overwritten in
 * place.
 */
export function writeNames({ workloadId, places, hostsPath }: Attachment, overlays: ReadonlyMap<string, Overlay>, log: Log): void {
  if (hostsPath === null) return
  try {
    const members = places.flatMap(({ id }) => overlays.get(id)?.members ?? [])
    const before = readFileSync(hostsPath, 'utf8')
    const after = withNames(before, members)
    if (after !== before) overwrite(hostsPath, after)
  } catch (error) {
    log.warn('the names of a private network cannot be updated in a container', { workload: workloadId, error: errorText(error) })
  }
}

function overwrite(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
  try {
    const bytes = Buffer.from(text)
    writeSync(file, bytes, 0, bytes.length, 0)
    ftruncateSync(file, bytes.length)
  } finally {
    closeSync(file)
  }
}
