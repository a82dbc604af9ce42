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
/** Before those of the machine, and whatever the routes are: only what goes to tunnels is concerned. */
const RULE_PRIORITY = 478
/** Where a way is shut: it counts once the one through the interface has gone. */
const SHUT_METRIC = 4_000

/**
 * How the rules of an agent are written, which send what goes to tunnels through its own table of routes. The second is for machines that ask of
 * each packet that comes in whether an answer would leave at the same interface (`rp_filter`): an answer is one from that port.
 */
export function rulesOf(key: string): string[][] {
  const rule = (end: string) => [
    'priority',
    String(RULE_PRIORITY),
    'ipproto',
    'udp',
    end,
    String(VXLAN_PORT),
    'lookup',
    String(routeTable(key)),
  ]
  return [rule('dport'), rule('sport')]
}

/** The routes of packets that go from this machine's tunnels to hosts with a key (HOST-161). */
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

  /** What has no other way to these hosts goes nowhere; hosts that are none of them any more are reached as any other. */
  async close(peers: readonly WirePeer[]): Promise<void> {
    const wanted = new Set(peers.map(({ address }) => address))
    // A table without a route is none.
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

  /** They are reached through the interface. */
  async open(peers: readonly WirePeer[]): Promise<void> {
    await this.apply(peers.map(({ address }) => `route replace ${address} dev ${this.device} table ${this.table}`))
  }

  private async apply(commands: readonly string[]): Promise<void> {
    if (commands.length > 0) await this.run('ip', ['-4', '-batch', '-'], `${commands.join('\n')}\n`)
  }
}

/** What `wg show <device> dump` says: the interface in the first line, a peer in each other. Pure. */
export function readPeers(dump: string): { publicKey: string; port: number; peers: WirePeer[] } {
  const [own = [], ...others] = dump
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  const peers = others.map(([publicKey = '', , , allowed = '']) => ({ publicKey, address: allowed.replace(/\/32$/, '') }))
  return { publicKey: own[1] ?? '', port: Number(own[2]), peers }
}
