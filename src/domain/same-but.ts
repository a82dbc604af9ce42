/** Whether two values have the same members, but for those named. Members are compared as they are, not in depth. */
export function sameBut<T extends object>(a: T, b: T, names: ReadonlySet<string>): boolean {
  // Members are looked up by names that come from the other value.
  const [one, other] = [Object.entries(a), b as Record<string, unknown>]
  return one.length === Object.keys(b).length && one.every(([name, value]) => names.has(name) || value === other[name])
}
