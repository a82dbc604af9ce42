import { type Chunk, type Column, emptyChunk, LEVELS, type Level, type Track } from './chunk.ts'
import { METRICS, type MetricCode } from './metrics.ts'
import { packNumber, unpackNumber } from './small-number.ts'

// The stored form of a chunk. Per track: length and text of its id, since when it is idle, its last step, the byte length of its columns,
// and these. Per column: metric, GPU, first step, number of steps, and 16 bits for each value; maxima follow the averages at levels whose
// steps cover several samples.

const FORM = 1
const NO_GPU = 255
/** Set in the number of steps: all values of a row are the same, and one stands for them. */
const CONSTANT = 0x80
const HEADER_BYTES = 3
const TRACK_BYTES = 1 + 8 + 1 + 4
const COLUMN_BYTES = 4
const CODES = new Set<number>(METRICS.map(({ code }) => code))
const text = new TextEncoder()

interface Packed {
  head: readonly [metric: number, gpu: number, first: number, count: number]
  figures: readonly number[]
}

/** Encodes a chunk. */
export function encodeChunk(chunk: Chunk): Uint8Array<ArrayBuffer> {
  const tracks = [...chunk.tracks].map(([id, track]) => ({ id: text.encode(id), track, columns: packColumns(chunk.level, track) }))
  const bytes = HEADER_BYTES + tracks.reduce((sum, { id, columns }) => sum + TRACK_BYTES + id.length + sizeOf(columns), 0)
  const view = new DataView(new ArrayBuffer(bytes))
  view.setUint8(0, FORM)
  view.setUint16(1, tracks.length)
  let at = HEADER_BYTES
  for (const { id, track, columns } of tracks) {
    view.setUint8(at, id.length)
    new Uint8Array(view.buffer).set(id, at + 1)
    at += 1 + id.length
    view.setFloat64(at, track.idleSinceMs ?? Number.NaN)
    view.setInt8(at + 8, track.lastSlot)
    view.setUint32(at + 9, sizeOf(columns))
    at += TRACK_BYTES - 1
    for (const { head, figures } of columns) {
      for (const byte of head) view.setUint8(at++, byte)
      for (const figure of figures) {
        view.setUint16(at, figure)
        at += 2
      }
    }
  }
  return new Uint8Array(view.buffer)
}

/** Decodes a chunk, or only its track `only`. */
export function decodeChunk(bytes: Uint8Array, level: Level, startMs: number, only?: string): Chunk {
  const chunk = emptyChunk(level, startMs)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // A format that this release does not know is read as an empty chunk.
  if (bytes.length < HEADER_BYTES || view.getUint8(0) !== FORM) return chunk
  const wanted = only === undefined ? null : text.encode(only)
  const count = view.getUint16(1)
  let at = HEADER_BYTES
  for (let index = 0; index < count; index++) {
    const id = bytes.subarray(at + 1, at + 1 + view.getUint8(at))
    at += 1 + id.length
    const size = view.getUint32(at + 9)
    if (wanted === null || sameBytes(wanted, id)) {
      const idleSinceMs = view.getFloat64(at)
      const columns = unpackColumns(level, view, at + TRACK_BYTES - 1, size)
      const track = { columns, idleSinceMs: Number.isNaN(idleSinceMs) ? null : idleSinceMs, lastSlot: view.getInt8(at + 8) }
      chunk.tracks.set(new TextDecoder().decode(id), track)
      chunk.columns += columns.size
    }
    at += TRACK_BYTES - 1 + size
  }
  return chunk
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

function sizeOf(columns: readonly Packed[]): number {
  return columns.reduce((sum, { figures }) => sum + COLUMN_BYTES + 2 * figures.length, 0)
}

function packColumns(level: Level, track: Track): Packed[] {
  return [...track.columns.values()].flatMap((column) => packColumn(level, column) ?? [])
}

function packColumn(level: Level, { metric, gpu, average, maximum }: Column): Packed | null {
  const first = average.findIndex((value) => !Number.isNaN(value))
  if (first < 0) return null
  const last = average.findLastIndex((value) => !Number.isNaN(value))
  const rows = (level === 0 ? [average] : [average, maximum]).map((row) => Array.from(row.subarray(first, last + 1), packNumber))
  const isConstant = rows.every((row) => row.every((figure) => figure === row[0]))
  const count = last - first + 1
  const figures = rows.flatMap((row) => (isConstant ? row.slice(0, 1) : row))
  return { head: [metric, gpu ?? NO_GPU, first, isConstant ? count | CONSTANT : count], figures }
}

function unpackColumns(level: Level, view: DataView, from: number, size: number): Map<string, Column> {
  const { slots } = LEVELS[level]
  const columns = new Map<string, Column>()
  let at = from
  while (at < from + size) {
    const metric = view.getUint8(at)
    const gpuByte = view.getUint8(at + 1)
    const first = view.getUint8(at + 2)
    const isConstant = view.getUint8(at + 3) >= CONSTANT
    const count = view.getUint8(at + 3) % CONSTANT
    at += COLUMN_BYTES
    const read = () => {
      const row = new Float64Array(slots).fill(Number.NaN)
      for (let index = 0; index < count; index++) row[first + index] = unpackNumber(view.getUint16(at + (isConstant ? 0 : 2 * index)))
      at += isConstant ? 2 : 2 * count
      return row
    }
    const average = read()
    const maximum = level === 0 ? average.slice() : read()
    const gpu = gpuByte === NO_GPU ? null : gpuByte
    if (CODES.has(metric)) columns.set(`${metric}.${gpu ?? ''}`, { metric: metric as MetricCode, gpu, average, maximum })
  }
  return columns
}
