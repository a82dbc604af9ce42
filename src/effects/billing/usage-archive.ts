import { Problem } from '../../contract/problems.ts'
import type { UsageArchive } from '../../db/billing/archived-usage.ts'
import { type ArchivedObject, archiveKey, monthName, readArchiveText } from '../../domain/billing/usage-archive.ts'
import type { Env } from '../../env.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { gunzip } from '../../platform/gzip.ts'
import { logEvent } from '../../platform/log.ts'

/** The plane's objects with moved intervals (BIL-45). `count` gets the number of intervals of each object that was read. */
export function openUsageArchive({ USAGE }: Pick<Env, 'USAGE'>, count: (rows: number) => void = () => {}): UsageArchive {
  return {
    read: async (object) => {
      const bytes = await fetchObject(USAGE, object)
      const records = bytes && (await unpack(bytes, object))
      if (!records) throw damaged(object, bytes ? 'is not as it was written: its content or checksum differs' : 'is missing')
      count(records.length)
      return records
    },
  }
}

async function fetchObject(bucket: R2Bucket | undefined, object: ArchivedObject): Promise<ArrayBuffer | null> {
  if (!bucket) throw damaged(object, 'cannot be read: the plane has no bucket USAGE')
  try {
    const found = await bucket.get(archiveKey(object))
    return found && (await found.arrayBuffer())
  } catch (cause) {
    throw new Problem('unavailable', { detail: `${nameOf(object)} cannot be read at present`, cause })
  }
}

/** The intervals of an object; null when its content is not what was written. */
export async function unpack(bytes: ArrayBuffer, object: ArchivedObject) {
  const text = await gunzip(bytes, object.bytes)
  if (text === null || (await sha256Hex(text)) !== object.sha256) return null
  return readArchiveText(text, object)
}

function damaged(object: ArchivedObject, fault: string): Problem {
  const detail = `${nameOf(object)} ${fault}; bills by the hour and with include=INTERVALS need it, bills by the day do not`
  logEvent('error', 'an object with usage cannot be used', { key: archiveKey(object), detail })
  return new Problem('internal', { detail })
}

function nameOf(object: ArchivedObject): string {
  return `the usage of ${monthName(object)} in the object ${archiveKey(object)}`
}
