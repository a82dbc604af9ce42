/** Whether two objects have the same members, except for those in `names`. Members are compared by identity, not in depth. */
export function sameBut<T extends object>(a: T, b: T, names: ReadonlySet<string>): boolean {
  // The cast permits lookups by the member names of the other value.
  const [one, other] = [Object.entries(a), b as Record<string, unknown>]
  return one.length === Object.keys(b).length && one.every(([name, value]) => names.has(name) || value === other[name])
}
