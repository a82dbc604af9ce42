import type { Span } from './ansi.ts'

/** Indexes of the lines that contain a text, ignoring case; the search starts at index `from`. */
export function hitsIn(lines: readonly { plain: string }[], query: string, from = 0): number[] {
  if (query === '') return []
  // A regular expression is faster over many lines than a lower-case copy of each.
  const wanted = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i')
  const hits: number[] = []
  for (let at = from; at < lines.length; at += 1) if (wanted.test(lines[at]?.plain ?? '')) hits.push(at)
  return hits
}

/** Nearest hit in this direction; undefined if there is none. */
export function hitBeside(hits: readonly number[], from: number, isBackwards: boolean): number | undefined {
  return isBackwards ? hits.findLast((at) => at < from) : hits.find((at) => at > from)
}

/** Next hit from a line in this direction, wrapping around at the ends; undefined if there are no hits. */
export function nextHit(hits: readonly number[], from: number, isBackwards: boolean): number | undefined {
  return hitBeside(hits, from, isBackwards) ?? (isBackwards ? hits.at(-1) : hits[0])
}

/** Splits spans at the edges of each hit and marks the hits; a hit may cover several spans. */
export function markHits(spans: readonly Span[], query: string): (Span & { isHit?: boolean })[] {
  const wanted = query.toLowerCase()
  if (wanted === '') return [...spans]
  const whole = spans
    .map(({ text }) => text)
    .join('')
    .toLowerCase()
  const edges: number[] = []
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) edges.push(at, at + wanted.length)
  if (edges.length === 0) return [...spans]
  const cut: (Span & { isHit?: boolean })[] = []
  let start = 0
  for (const span of spans) {
    const end = start + span.text.length
    const places = [start, ...edges.filter((edge) => edge > start && edge < end), end]
    for (const [index, place] of places.slice(0, -1).entries()) {
      const text = span.text.slice(place - start, (places[index + 1] ?? end) - start)
      // An odd number of edges up to here means that this part is inside a hit.
      const isHit = edges.filter((edge) => edge <= place).length % 2 === 1
      if (text !== '') cut.push(isHit ? { ...span, text, isHit } : { ...span, text })
    }
    start = end
  }
  return cut
}
