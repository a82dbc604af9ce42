import { OperatorError } from './fail.ts'

/** Host ports that workloads may be published on, both ends included. */
export interface PortRange {
  first: number
  last: number
}

export const DEFAULT_PORT_RANGE = '30000-32767'

const PORT_MAX = 65_535
/** Ports below are for services of the machine itself. */
const PORT_MIN = 1_024

/** Parses `--port-range 30000-32767`. */
export function parsePortRange(text: string): PortRange {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? []
  const range = { first: Number(first), last: Number(last) }
  if (last === undefined || range.first < PORT_MIN || range.last > PORT_MAX || range.first > range.last) {
    throw new OperatorError(
      `--port-range '${text}' is no range of ports; write "<first>-<last>" within ${PORT_MIN}-${PORT_MAX}, such as ${DEFAULT_PORT_RANGE}`,
    )
  }
  return range
}

/** The range as the operator wrote it. */
export function portRangeText({ first, last }: PortRange): string {
  return `${first}-${last}`
}
