// Labels of a pod. Pure.

/** Keys and values, sorted by key (LBL-2). */
export type Labels = Record<string, string>

/** Labels of a pod after a request (LBL-2): null removes them, an absent field leaves them unchanged, a map replaces all. */
export function labelsAfter(present: Labels, asked: Labels | null | undefined): Labels {
  if (asked === undefined) return present
  return Object.fromEntries(Object.entries(asked ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether labels match every filter (LBL-4): `<key>=<value>`, or `<key>` for any value. */
export function hasLabels(labels: Labels, filters: readonly string[]): boolean {
  return filters.every((filter) => {
    const at = filter.indexOf('=')
    const key = at < 0 ? filter : filter.slice(0, at)
    return Object.hasOwn(labels, key) && (at < 0 || labels[key] === filter.slice(at + 1))
  })
}
