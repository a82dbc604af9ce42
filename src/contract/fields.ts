import { z } from 'zod'
import { form } from './forms.ts'

/**
 * One line of text that people, logs and command lines display: without C0 and C1 control characters, and without characters that change
 * the text direction, break lines or are invisible (GEN-6, GEN-10, EDG-20). Joiners are allowed, because scripts and emoji need them.
 */
export const PLAIN_TEXT = form(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /^[^\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$/,
  'text without control characters and marks of direction',
)
/** Like `PLAIN_TEXT`, with tabs: one line of a file (EDG-20). */
export const LINE_TEXT = form(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$/,
  'one line without control characters and marks of direction; tabs may stand in it',
)
/** Like `LINE_TEXT`, over several lines: a text for people (EDG-20). */
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
/** Ids of data centers, including ids that an operator has chosen. */
export const DATA_CENTER_ID = form(/^[A-Za-z0-9-]{2,32}$/, '2 to 32 letters, digits and hyphens')

/** Longest name, characters (RES-9, GEN-10). */
/** Longest name of a resource, in characters. */
export const MAX_NAME_LENGTH = 191
const MAX_NOTE_LENGTH = 200

/** The longest CUDA version that a host reports. */
const MAX_CUDA_VERSION_LENGTH = 16
/** Most CUDA versions of a request: every host is compared with each of them, and a refusal lists them. */
const MAX_CUDA_VERSIONS = 64

/** The largest 32-bit integer, so that clients in every language can hold it (REST-30). */
const MAX_WHOLE = 2 ** 31 - 1

/** An integer without an upper bound other than 32 bits (REST-30). */
export const wholeNumber = (min: number) => z.number().int().min(min).max(MAX_WHOLE)

/** Most data centers that one request may name. */
const MAX_DATA_CENTERS = 100

const NameText = z.string().min(1).regex(PLAIN_TEXT)
/** The name of a resource, short enough that it cannot serve as storage (GEN-10). */
export const Name = NameText.max(MAX_NAME_LENGTH)
/** The reason for an action, shown beside it. */
export const Note = NameText.max(MAX_NOTE_LENGTH)
export const ResourceId = z.string().min(1).regex(PLAIN_TEXT)
/** The id of a data center that an operator defines. */
export const DataCenterId = z.string().regex(DATA_CENTER_ID)
/** Ids of data centers in a request. Their existence is checked later, not by the schema (POD-9). */
export const DataCenterIds = z.array(ResourceId).max(MAX_DATA_CENTERS)
export const CudaVersion = z.string().regex(CUDA_VERSION).max(MAX_CUDA_VERSION_LENGTH)
export const CudaVersions = z.array(CudaVersion).max(MAX_CUDA_VERSIONS)
export const Timestamp = z.string().meta({ format: 'date-time', description: 'RFC 3339, UTC, seconds precision.' })
