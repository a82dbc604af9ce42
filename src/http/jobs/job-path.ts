import { isReservedWord } from '../../contract/reserved-words.ts'

const V2 = '/v2/'

/** Whether a path belongs to the job API (CFG-2): below `/v2/`, a reserved word is REST, and any other segment is an endpoint id. */
export function isJobPath(path: string): boolean {
  if (!path.startsWith(V2)) return false
  const end = path.indexOf('/', V2.length)
  return !isReservedWord(path.slice(V2.length, end === -1 ? undefined : end))
}
