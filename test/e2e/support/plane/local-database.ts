import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * The D1 database of a local plane, opened beside it; `storage` is the plane's state directory. Write to it only while the plane is
 * stopped.
 */
export function openLocalDatabase(storage: string, options: { readOnly: boolean }): DatabaseSync {
  const names = readdirSync(join(storage, 'd1'), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.sqlite') && !name.endsWith('metadata.sqlite'))
  if (files.length !== 1) throw new Error(`the local plane has ${files.length} databases: ${files.join(', ')}`)
  return new DatabaseSync(join(storage, 'd1', files[0] ?? ''), options)
}
