import { isReservedWord } from '../contract/reserved-words.ts'

export type Surface = 'rest' | 'jobs' | 'other'

const V2 = '/v2/'

/** Which interface a path belongs to (CFG-2): below `/v2/`, a reserved word is REST's and anything else an endpoint id. */
export function surfaceOf(path: string): Surface {
  if (!path.startsWith(V2)) return 'other'
  const end = path.indexOf('/', V2.length)
  const word = path.slice(V2.length, end === -1 ? undefined : end)
  return isReservedWord(word) ? 'rest' : 'jobs'
}
