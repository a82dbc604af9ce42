import { compareOpenings, type Opening, type OpeningClass } from '../../domain/host/openings.ts'
import type { PlacementStrategy } from '../../domain/host/placement.ts'

/** Openings that are read at once for one class, and for all classes that are read together. */
const MOST_OF_CLASS = 16
const LEAST_OF_CLASS = 4
const MOST_AT_ONCE = 64

/** Openings of one class and one number of free GPUs, from behind `after` on. */
interface LaneQuery {
  of: OpeningClass
  gpusFree: number
  after: Opening | null
}

/** Reads the index of free capacity. */
export interface OpeningReader {
  /** For each class, the numbers of free GPUs of its hosts that may have enough vCPUs, in the order of the strategy. */
  levels(classes: readonly OpeningClass[]): Promise<number[][]>
  /** For each query, at most `limit` openings in the order of the strategy; fewer: there are no more. */
  page(queries: readonly LaneQuery[], limit: number): Promise<Opening[][]>
}

/** An opening with the rank of its class. */
export interface RankedOpening extends Opening {
  rank: number
}

/** The openings of one class with one number of free GPUs, of which a part has been read. */
interface Lane extends LaneQuery {
  read: Opening[]
  isRead: boolean
}

/**
 * All openings of these classes in the order of the policy (PLACE-1), read as they are asked for. Classes of one rank and one number of free
 * GPUs are merged; what is preferred less is read only when everything before it was taken.
 */
export async function* openingsInOrder(
  reader: OpeningReader,
  classes: readonly OpeningClass[],
  strategy: PlacementStrategy,
): AsyncGenerator<RankedOpening> {
  const ranks = [...Map.groupBy(classes, ({ rank }) => rank)].toSorted(([a], [b]) => a - b).map(([, those]) => those)
  for (const some of growing(ranks)) {
    const levels = await reader.levels(some.flat())
    const lanes = some.flat().flatMap((of, at) => (levels[at] ?? []).map((gpusFree) => makeLane(of, gpusFree)))
    const groups = [...Map.groupBy(lanes, ({ of, gpusFree }) => `${of.rank} ${gpusFree}`).values()]
    for (const next of growing(groups.toSorted(([a], [b]) => compareLanes(strategy, a, b)))) {
      await readMore(reader, next.flat())
      for (const group of next) yield* merged(reader, group, strategy)
    }
  }
}

function makeLane(of: OpeningClass, gpusFree: number): Lane {
  return { of, gpusFree, after: null, read: [], isRead: false }
}

function compareLanes(strategy: PlacementStrategy, a?: Lane, b?: Lane): number {
  if (!a || !b) return 0
  return a.of.rank - b.of.rank || (strategy === 'pack' ? a.gpusFree - b.gpusFree : b.gpusFree - a.gpusFree)
}

/** One thing, then two, then four, and so on: few reads when the first ones suffice, and few calls when none does. */
function* growing<Thing>(things: readonly Thing[]): Generator<Thing[]> {
  for (let at = 0, width = 1; at < things.length; at += width, width *= 2) yield things.slice(at, at + width)
}

async function* merged(reader: OpeningReader, lanes: readonly Lane[], strategy: PlacementStrategy): AsyncGenerator<RankedOpening> {
  for (;;) {
    const empty = lanes.filter(({ read, isRead }) => read.length === 0 && !isRead)
    if (empty.length > 0) await readMore(reader, empty)
    const heads = lanes.flatMap((lane) => (lane.read[0] ? [{ lane, opening: lane.read[0] }] : []))
    const [best] = heads.toSorted((a, b) => compareOpenings(strategy, a.opening, b.opening))
    if (!best) return
    best.lane.read.shift()
    yield { ...best.opening, rank: best.lane.of.rank }
  }
}

async function readMore(reader: OpeningReader, lanes: readonly Lane[]): Promise<void> {
  const limit = Math.max(LEAST_OF_CLASS, Math.min(MOST_OF_CLASS, Math.floor(MOST_AT_ONCE / lanes.length)))
  const pages = await reader.page(lanes, limit)
  for (const [at, lane] of lanes.entries()) {
    const page = pages[at] ?? []
    lane.read = page
    lane.after = page.at(-1) ?? lane.after
    lane.isRead = page.length < limit
  }
}
