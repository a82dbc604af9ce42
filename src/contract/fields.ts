import { z } from 'zod'
import { form } from './forms.ts'

/**
 * Text on one line that people, logs and command lines are shown: no control characters of either set, none that turn the direction of text, break
 * lines or stand nowhere (GEN-6, PP-223, EDG-20). Joiners stay: scripts and emoji are written with them.
 */
export const PLAIN_TEXT = form(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /^[^\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$/,
  'text without control characters and marks of direction',
)
/** The same with tabs: what stands on one line of a file (EDG-20). */
export const LINE_TEXT = form(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$/,
  'one line without control characters and marks of direction; tabs may stand in it',
)
/** The same over several lines, with tabs: what people read as a whole (EDG-20). */
export const LINES_TEXT = form(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$/,
  'text without control characters and marks of direction; tabs and line breaks may stand in it',
)
/** Text that may hold tabs and line breaks but no NUL, which no process environment or argument can carry (GEN-6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is refused
export const NO_NUL = form(/^[^\u0000]*$/, 'text without NUL characters')
/** `<major>.<minor>` (POD-7). */
export const CUDA_VERSION = form(/^\d+\.\d+$/, 'a version such as 12.8')
/** `<port>/<protocol>` (CON-6). */
export const PORT = form(/^\d+\/(http|tcp)$/, 'a port such as 8888/http or 22/tcp')
/** Names of environment variables (GEN-6). */
export const ENV_NAME = form(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'letters, digits, _, . and -, with a letter or _ first')
/** Ids of data centers: what an operator names, not only those of the seed. */
export const DATA_CENTER_ID = form(/^[A-Za-z0-9-]{2,32}$/, '2 to 32 letters, digits and hyphens')

/** Longest name, characters (RES-9, PP-223). */
const MAX_NAME_LENGTH = 191
const MAX_NOTE_LENGTH = 200

/** As hosts report one. */
const MAX_CUDA_VERSION_LENGTH = 16
/** Every host is compared with every one of them, and a refusal names them. */
const MAX_CUDA_VERSIONS = 64

/** What a 32-bit integer holds, so that every client's language can (PP-121). */
const MAX_WHOLE = 2 ** 31 - 1

/** A whole number that nothing but its kind bounds from above (PP-121). */
export const wholeNumber = (min: number) => z.number().int().min(min).max(MAX_WHOLE)

/** Most data centers that one request may name. */
const MAX_DATA_CENTERS = 100

const NameText = z.string().min(1).regex(PLAIN_TEXT)
/** What somebody calls a thing: a name, not a place to store something (PP-223). */
export const Name = NameText.max(MAX_NAME_LENGTH)
/** Why somebody did something, shown beside it. */
export const Note = NameText.max(MAX_NOTE_LENGTH)
export const ResourceId = z.string().min(1).regex(PLAIN_TEXT)
/** What an operator may call one. */
export const DataCenterId = z.string().regex(DATA_CENTER_ID)
/** Those that a request names: whether there are such is no matter of their form (POD-9). */
export const DataCenterIds = z.array(ResourceId).max(MAX_DATA_CENTERS)
export const CudaVersion = z.string().regex(CUDA_VERSION).max(MAX_CUDA_VERSION_LENGTH)
export const CudaVersions = z.array(CudaVersion).max(MAX_CUDA_VERSIONS)
export const Timestamp = z.string().meta({ format: 'date-time', description: 'RFC 3339, UTC, seconds precision.' })
