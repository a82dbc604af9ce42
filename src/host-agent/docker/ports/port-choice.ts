import type { PortRange } from '../../../host-protocol/messages.ts'
import type { PublishedPort } from '../../runtime.ts'

/** From this number on, a requested port gets the same number inside and outside (NET-4). */
export const SYMMETRIC_MIN = 70_000

/** One requested port and the host port that it got. */
export interface AssignedPort {
  /** The requested number, `22` in `22/tcp`. */
  requested: number
  /** Port on which the program listens. */
  private: number
  /** Port that the machine publishes. */
  public: number
  type: string
}

/** The ports that a container requests, and those that it may get. */
export interface PortRequest {
  /** `<port>/tcp` or `<port>/http`; the machine publishes both as TCP. */
  wanted: readonly string[]
  range: PortRange
  /** Ports of other workloads, and ports that are in use on the machine. */
  avoid: ReadonlySet<number>
  /** Previous ports of the pod. */
  previous: readonly PublishedPort[]
  /** Where in the range to begin, 0 to 1; random, so that a released port does not go to another tenant at once. */
  offset: number
}

/** Chooses a host port for each requested port, previous ones first (HOST-56); undefined when the range has too few. */
export function choosePorts(request: PortRequest): AssignedPort[] | undefined {
  // The same port written twice, such as `22/tcp` and `022/tcp`, counts once.
  const requests = [...new Map(request.wanted.map(parsePort).map((port) => [`${port.requested}/${port.type}`, port])).values()]
  const inside = new Set(requests.map(({ requested }) => requested))
  const taken = new Set(request.avoid)
  const byRequest = new Map<number, AssignedPort>()
  const previousSymmetric = request.previous.filter((port) => port.private === port.public).map((port) => port.public)
  for (const { requested, type } of requests) {
    // 8080/http and 8080/tcp are one port of the container.
    if (byRequest.has(requested)) continue
    const symmetric = requested >= SYMMETRIC_MIN
    const previous = symmetric
      ? previousSymmetric
      : request.previous.filter((port) => port.private === requested).map((port) => port.public)
    // A symmetric port must differ from every other port inside the container.
    const port = firstFree(
      [...previous.filter((port) => isIn(request.range, port)), ...ring(request)],
      taken,
      symmetric ? inside : new Set(),
    )
    if (port === undefined) return undefined
    taken.add(port)
    byRequest.set(requested, { requested, private: symmetric ? port : requested, public: port, type })
  }
  return requests.flatMap(({ requested, type }) => {
    const assigned = byRequest.get(requested)
    return assigned === undefined ? [] : [{ ...assigned, type }]
  })
}

/** Splits `22/tcp` into number and type. */
function parsePort(text: string): { requested: number; type: string } {
  const [digits = '', type = 'tcp'] = text.split('/')
  return { requested: Number.parseInt(digits, 10), type }
}

function isIn({ from, to }: PortRange, port: number): boolean {
  return port >= from && port <= to
}

function firstFree(candidates: readonly number[], taken: ReadonlySet<number>, inside: ReadonlySet<number>): number | undefined {
  return candidates.find((port) => !taken.has(port) && !inside.has(port))
}

/** All ports of the range in a circle, beginning at `offset`. */
function ring({ range: { from, to }, offset }: PortRequest): number[] {
  const size = to - from + 1
  const start = Math.min(size - 1, Math.floor(offset * size))
  return Array.from({ length: size }, (_, step) => from + ((start + step) % size))
}
