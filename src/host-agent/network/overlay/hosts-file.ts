/** Names in a container's `/etc/hosts`, which the engine creates. Pure. */

/** One address and its names. */
export interface HostNames {
  address: string
  names: readonly string[]
}

const BEGIN = '# podplane: private networks'
const END = '# podplane: end'

/**
 * Returns the file with the names of members first, so that they take precedence, and without lines of the engine that give one of these
 * names to another address (NET-44). Lines that the container itself has added stay.
 */
export function withNames(file: string, members: readonly HostNames[]): string {
  const ours = new Set(members.flatMap(({ names }) => names))
  const rest = withoutBlock(file.split('\n')).filter((line) => !namesOf(line).some((name) => ours.has(name)))
  const named = members.filter(({ names }) => names.length > 0).map(({ address, names }) => [address, ...names].join('\t'))
  return [...(named.length > 0 ? [BEGIN, ...named, END] : []), ...rest].join('\n')
}

function withoutBlock(lines: readonly string[]): string[] {
  const [from, to] = [lines.indexOf(BEGIN), lines.indexOf(END)]
  return from === -1 || to < from ? [...lines] : [...lines.slice(0, from), ...lines.slice(to + 1)]
}

function namesOf(line: string): string[] {
  return line.startsWith('#') ? [] : line.trim().split(/\s+/).slice(1)
}
