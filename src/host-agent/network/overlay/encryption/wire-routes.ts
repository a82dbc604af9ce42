import { z } from 'zod'
import { VXLAN_PORT } from '../../../../host-protocol/overlays.ts'
import type { RunProgram } from '../../run-program.ts'
import { routeTable, wireDevice } from './wire-names.ts'

/** Another host, by its address on the network between hosts. */
export interface WirePeer {
  address: string
  publicKey: string
}

const Rules = z.array(z.object({ table: z.string().optional() }))
const Routes = z.array(z.object({ dst: z.string(), type: z.string().optional() }))
/** Precedes the machine's own rules, whatever its routes are: these rules concern tunnel packets only. */
const RULE_PRIORITY = 478
/** Metric of a prohibiting route: it takes effect once the route through the interface is gone. */
const SHUT_METRIC = 4_000

/**
 * Arguments of `ip rule` that send tunnel packets through the agent's own routing table. The second rule is for machines with a reverse
 * path filter (`rp_filter`), which checks whether an answer would leave through the same interface: an answer comes from that port.
 */
export function rulesOf(key: string): string[][] {
  const rule = (end: string) => `priority ${RULE_PRIORITY} ipproto udp ${end} ${VXLAN_PORT} lookup ${routeTable(key)}`.split(' ')
  return [rule('dport'), rule('sport')]
}

/** The routes of packets from this machine's tunnels to hosts with a key (HOST-161). */
export class WireRoutes {
  private readonly device: string
  private readonly table: string
  private readonly rules: string[][]
  private readonly run: RunProgram

  constructor(key: string, run: RunProgram) {
    this.device = wireDevice(key)
    this.table = String(routeTable(key))
    this.rules = rulesOf(key)
    this.run = run
  }

  /**
   * Prohibits packets to these hosts that have no route through the interface, removes the routes to all other hosts, and adds missing
   * rules.
   */
  async close(peers: readonly WirePeer[]): Promise<void> {
    const wanted = new Set(peers.map(({ address }) => address))
    // `ip` fails for a table without routes.
    const text = await this.run('ip', ['-4', '-json', 'route', 'show', 'table', this.table]).catch(() => '[]')
    const found = Routes.parse(JSON.parse(text.trim() || '[]'))
    const gone = new Set(found.map(({ dst }) => dst).filter((dst) => !wanted.has(dst)))
    const shut = new Set(found.filter(({ type }) => type === 'prohibit').map(({ dst }) => dst))
    await this.apply([
      ...[...gone].map((address) => `route flush ${address} table ${this.table}`),
      ...[...wanted]
        .filter((address) => !shut.has(address))
        .map((address) => `route add prohibit ${address} table ${this.table} metric ${SHUT_METRIC}`),
    ])
    const rules = Rules.parse(JSON.parse((await this.run('ip', ['-4', '-json', 'rule', 'show'])).trim() || '[]'))
    if (rules.filter(({ table }) => table === this.table).length >= this.rules.length) return
    for (const rule of this.rules) {
      await this.run('ip', ['-4', 'rule', 'delete', ...rule]).catch(() => {})
      await this.run('ip', ['-4', 'rule', 'add', ...rule])
    }
  }

  /** Routes packets to these hosts through the interface. */
  async open(peers: readonly WirePeer[]): Promise<void> {
    await this.apply(peers.map(({ address }) => `route replace ${address} dev ${this.device} table ${this.table}`))
  }

  private async apply(commands: readonly string[]): Promise<void> {
    if (commands.length > 0) await this.run('ip', ['-4', '-batch', '-'], `${commands.join('\n')}\n`)
  }
}

/** Parses `wg show <device> dump`: the interface in the first line, a peer in each other line. Pure. */
export function readPeers(dump: string): { publicKey: string; port: number; peers: WirePeer[] } {
  const [own = [], ...others] = dump
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  const peers = others.map(([publicKey = '', , , allowed = '']) => ({ publicKey, address: allowed.replace(/\/32$/, '') }))
  return { publicKey: own[1] ?? '', port: Number(own[2]), peers }
}
