/** The file of names of a container, which the engine has made. Pure. */

/** One address and what it is called. */
export interface HostNames {
  address: string
  names: readonly string[]
}

const BEGIN = '# podplane: private networks'
const END = '# podplane: end'

/**
 * The file with the names of members in front, so that they win, and without lines of the engine that name one of them otherwise (NET-44). What
 * the container itself has added stays.
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
