import { z } from 'zod'
import { Problem } from '../contract/problems.ts'

const Cursor = z.tuple([z.string(), z.number().int(), z.string()])

/** A list position as opaque text. `binding` names the operation and everything that shapes the list, `limit` aside (PAG-3). */
export function encodeCursor(binding: string, position: { createdAt: number; id: string }): string {
  return toBase64Url(JSON.stringify([binding, position.createdAt, position.id]))
}

/** The position of a cursor. Throws 422 for one that is malformed or comes from another list (PAG-3). */
export function decodeCursor(binding: string, cursor: string): { createdAt: number; id: string } {
  const parsed = Cursor.safeParse(parseBase64Json(cursor))
  if (!parsed.success || parsed.data[0] !== binding) {
    throw new Problem('validationFailed', { errors: ['$.cursor: not a cursor of this list'] })
  }
  return { createdAt: parsed.data[1], id: parsed.data[2] }
}

function toBase64Url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function parseBase64Json(text: string): unknown {
  try {
    return JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}
