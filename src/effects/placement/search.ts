import type { OpeningClass } from '../../domain/host/openings.ts'
import type { PlacementHost, PlacementStrategy } from '../../domain/host/placement.ts'
import { type OpeningReader, openingsInOrder, type RankedOpening } from './openings-in-order.ts'

/** Hosts that are judged in full at a time, after the first ones: 64 in the first three pages. */
const PAGE_HOSTS = 30

/** Hosts that are judged one page after another; with more, or with more classes, one read of the whole fleet costs less. */
const MAX_JUDGED = 64
const MAX_CLASSES = 64

/** Reads the index, and hosts in full. */
export interface FleetReader extends OpeningReader {
  /** These hosts, in any order. */
  hosts(hostIds: readonly string[]): Promise<readonly PlacementHost[]>
}

/** A search for the hosts of a workload. */
export interface Search<Candidate> {
  classes: readonly OpeningClass[]
  strategy: PlacementStrategy
  /** The candidates among some hosts, best first, for the shape or the data center of this rank. */
  judge(rank: number, hosts: readonly PlacementHost[]): readonly Candidate[]
}

/**
 * The first candidates of a workload, best first, as the policy ranks all hosts (PLACE-1): at least `wanted`, or all that there are. The
 * index has every host that fits, and in the order of the policy. The rules that it does not know are judged on full hosts, a page at a
 * time. Null: the request has too many classes, or the first hosts fail such rules, so the caller ranks the whole fleet.
 */
export async function searchHosts<Candidate>(reader: FleetReader, search: Search<Candidate>, wanted: number): Promise<Candidate[] | null> {
  if (search.classes.length > MAX_CLASSES) return null
  let judged = 0
  const found: Candidate[] = []
  let page: RankedOpening[] = []
  let size = wanted
  for await (const opening of openingsInOrder(reader, search.classes, search.strategy)) {
    page.push(opening)
    if (page.length < size) continue
    found.push(...(await judgePage(reader, search, page)))
    if (found.length >= wanted) return found
    judged += page.length
    if (judged >= MAX_JUDGED) return null
    page = []
    size = PAGE_HOSTS
  }
  return [...found, ...(await judgePage(reader, search, page))]
}

async function judgePage<Candidate>(reader: FleetReader, search: Search<Candidate>, page: readonly RankedOpening[]): Promise<Candidate[]> {
  if (page.length === 0) return []
  const hosts = new Map((await reader.hosts([...new Set(page.map(({ hostId }) => hostId))])).map((host) => [host.id, host]))
  const ranks = Map.groupBy(page, ({ rank }) => rank)
  return [...ranks].flatMap(([rank, openings]) => {
    const those = openings.flatMap(({ hostId }) => hosts.get(hostId) ?? [])
    return search.judge(rank, those)
  })
}
