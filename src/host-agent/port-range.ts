import { OperatorError } from './fail.ts'

/** Host ports that workloads may be published on, both ends included. */
export interface PortRange {
  from: number
  to: number
}

export const DEFAULT_PORT_RANGE = '30000-32767'

const PORT_MAX = 65_535
/** Ports below are for services of the machine itself. */
const PORT_MIN = 1_024

/** Parses `--port-range 30000-32767`. */
export function parsePortRange(text: string): PortRange {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? []
  const range = { from: Number(from), to: Number(to) }
  if (to === undefined || range.from < PORT_MIN || range.to > PORT_MAX || range.from > range.to) {
    throw new OperatorError(
      `--port-range '${text}' is no range of ports; write "<first>-<last>" within ${PORT_MIN}-${PORT_MAX}, such as ${DEFAULT_PORT_RANGE}`,
    )
  }
  return range
}

/** The range as the operator wrote it. */
export function portRangeText({ from, to }: PortRange): string {
  return `${from}-${to}`
}
