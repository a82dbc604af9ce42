import { DEFAULT_PORT_RANGE, type PortRange } from '../host-protocol/messages.ts'
import { OperatorError } from './fail.ts'

const PORT_MAX = 65_535
/** Ports below are for services of the machine itself. */
const PORT_MIN = 1_024

/** Parses `--port-range 30000-32767`. */
export function parsePortRange(text: string): PortRange {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? []
  const range = { from: Number(from), to: Number(to) }
  if (to === undefined || range.from < PORT_MIN || range.to > PORT_MAX || range.from > range.to) {
    throw new OperatorError(
      `--port-range '${text}' is no range of ports; write "<first>-<last>" within ${PORT_MIN}-${PORT_MAX}, such as ${portRangeText(DEFAULT_PORT_RANGE)}`,
    )
  }
  return range
}

/** The range as the operator wrote it. */
export function portRangeText({ from, to }: PortRange): string {
  return `${from}-${to}`
}
