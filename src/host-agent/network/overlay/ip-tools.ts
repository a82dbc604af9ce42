import { z } from 'zod'
import { runProgram } from '../run-program.ts'

const Link = z.object({
  ifname: z.string(),
  address: z.string().optional(),
  mtu: z.number().optional(),
  flags: z.array(z.string()).default([]),
  linkinfo: z
    .object({
      info_kind: z.string().optional(),
      info_data: z.object({ id: z.number().optional(), local: z.string().optional() }).optional(),
    })
    .optional(),
})
export type Link = z.infer<typeof Link>
const Address = z.object({
  ifname: z.string().optional(),
  addr_info: z.array(z.object({ local: z.string().optional(), prefixlen: z.number().optional() })).default([]),
})
const Neighbour = z.object({ dst: z.string(), lladdr: z.string().optional() })
const Forwarding = z.object({ mac: z.string(), dst: z.string().optional() })
const Route = z.object({ dev: z.string().optional(), prefsrc: z.string().optional() })

/** The calls of `ip` and `bridge` for private networks. `inside`: path of the network namespace to run in; absent: the agent's own. */
export interface IpTools {
  /** Runs commands of `ip`, one per line; stops at the first that fails. */
  apply(commands: readonly string[], inside?: string): Promise<void>
  /** Runs commands of `bridge`; stops at the first that fails. */
  applyForwarding(commands: readonly string[]): Promise<void>
  links(inside?: string): Promise<Link[]>
  addresses(device: string, inside: string): Promise<string[]>
  /** Permanent neighbour entries, which were set and not discovered. */
  neighbours(device: string, inside: string): Promise<{ address: string; mac: string }[]>
  forwarding(device: string): Promise<{ mac: string; host: string }[]>
  /** The interface and source address that this machine uses to reach an address. */
  routeTo(address: string): Promise<{ device: string; source: string } | undefined>
}

export const IP_TOOLS: IpTools = {
  apply: async (commands, inside) => {
    if (commands.length > 0) await run(inside, 'ip', ['-batch', '-'], lines(commands))
  },
  applyForwarding: async (commands) => {
    if (commands.length > 0) await runProgram('bridge', ['-batch', '-'], lines(commands))
  },
  links: async (inside) => z.array(Link).parse(parse(await run(inside, 'ip', ['-json', '-details', 'link', 'show']))),
  addresses: async (device, inside) => {
    const found = z.array(Address).parse(parse(await run(inside, 'ip', ['-json', '-4', 'address', 'show', 'dev', device])))
    return found.flatMap(({ addr_info: all }) =>
      all.flatMap(({ local, prefixlen }) => (local === undefined ? [] : [`${local}/${prefixlen}`])),
    )
  },
  neighbours: async (device, inside) => {
    const shown = await run(inside, 'ip', ['-json', '-4', 'neighbour', 'show', 'dev', device, 'nud', 'permanent'])
    return z
      .array(Neighbour)
      .parse(parse(shown))
      .flatMap(({ dst, lladdr }) => (lladdr === undefined ? [] : [{ address: dst, mac: lladdr }]))
  },
  forwarding: async (device) => {
    const found = z.array(Forwarding).parse(parse(await runProgram('bridge', ['-json', 'fdb', 'show', 'dev', device])))
    return found.flatMap(({ mac, dst }) => (dst === undefined ? [] : [{ mac, host: dst }]))
  },
  routeTo: async (address) => {
    const [route] = z.array(Route).parse(parse(await runProgram('ip', ['-json', '-4', 'route', 'get', address])))
    return route?.dev === undefined || route.prefsrc === undefined ? undefined : { device: route.dev, source: route.prefsrc }
  },
}

/** Runs a program in the network namespace at a path. */
function run(inside: string | undefined, program: string, args: readonly string[], input?: string): Promise<string> {
  return inside === undefined ? runProgram(program, args, input) : runProgram('nsenter', [`--net=${inside}`, program, ...args], input)
}

function lines(commands: readonly string[]): string {
  return `${commands.join('\n')}\n`
}

/** Parses JSON output: without results the programs print nothing, or an empty object in a list. */
function parse(text: string): unknown {
  const value: unknown = text.trim() === '' ? [] : JSON.parse(text)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null && Object.keys(item).length > 0) : value
}
