import { tryParse } from '../text/json-text.ts'

/** The fields that describe the bucket, and the one that some SDKs add (RUN-1). */
const REQUIRED = ['accessId', 'accessSecret', 'bucketName', 'endpointUrl'] as const
const OPTIONAL = ['objectPath'] as const
const MAX_VALUE_CHARS = 2_048

/**
 * Reads the `s3Config` of a submit. `text` is the JSON text of the worker's copy: the known fields and nothing else. Null: none was sent. A
 * refusal names the field and never its value.
 */
export function readS3Config(json: string | undefined): { ok: true; text: string | null } | { ok: false; detail: string } {
  if (json === undefined || json === 'null') return { ok: true, text: null }
  const value = tryParse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, detail: '$.s3Config: want an object' }
  const given = value as Record<string, unknown>
  const kept: Record<string, string> = {}
  for (const name of [...REQUIRED, ...OPTIONAL]) {
    const member = Object.hasOwn(given, name) ? given[name] : undefined
    const isOptional = (OPTIONAL as readonly string[]).includes(name)
    if (isOptional && (member === undefined || member === null)) continue
    if (member === undefined) return { ok: false, detail: `$.s3Config: missing property '${name}'` }
    if (typeof member !== 'string' || member === '') return { ok: false, detail: `$.s3Config.${name}: want a string that is not empty` }
    if (member.length > MAX_VALUE_CHARS) return { ok: false, detail: `$.s3Config.${name}: longer than ${MAX_VALUE_CHARS} characters` }
    kept[name] = member
  }
  return { ok: true, text: JSON.stringify(kept) }
}
