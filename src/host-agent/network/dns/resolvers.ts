import { isIPv4 } from 'node:net'
import { z } from 'zod'
import { NAME_SERVER } from './rules.ts'

/** Where this machine asks for names. With systemd-resolved the first file names a stub only, and the second one who is behind it. */
export const RESOLVER_FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']

/** IPv4 name servers of resolver files. Those on loopback are left out: the engine itself asks them, from the host. In the order of the files. */
export function parseNameServers(texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split('\n'))
  const named = lines.flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
  return [...new Set(named.filter(isReached))]
}

/** Where an engine of this machine is told of other name servers. */
export const ENGINE_FILE = '/etc/docker/daemon.json'
const EngineNames = z.object({ dns: z.array(z.string()).default([]), 'dns-search': z.array(z.string()).default([]) })

/** How containers of private networks find names. */
export interface ContainerResolvers {
  Dns: string[]
  DnsSearch: string[]
  DnsOptions: string[]
}

/** The engine asks no more. */
const SERVERS_MAX = 3
/** What C libraries read. */
const SEARCH_MAX = 6

/**
 * Settings of a container that asks the agent first, and the name servers of the machine for what that refuses (NET-72); `domain` is searched first.
 * `told` is what the engine's own configuration says, which goes before the files of the machine. Undefined where there are name servers on
 * loopback only: the engine asks those from the host, and for containers with settings of their own it does not. Pure.
 */
export function containerResolvers(domain: string, files: readonly string[], told = ''): ContainerResolvers | undefined {
  const engine = readEngine(told)
  const texts = engine.length > 0 ? [engine.join('\n')] : files
  const servers = parseNameServers(texts)
  const lines = texts.flatMap((text) => text.split('\n'))
  if (servers.length === 0 && lines.some((line) => /^\s*nameserver\s/.test(line))) return undefined
  const searched = lines.findLast((line) => /^\s*search\s/.test(line)) ?? ''
  const own = searched.trim().split(/\s+/).slice(1)
  return {
    Dns: [NAME_SERVER, ...servers].slice(0, SERVERS_MAX),
    DnsSearch: [...new Set([domain, ...own.filter((name) => /^[A-Za-z0-9._-]+$/.test(name))])].slice(0, SEARCH_MAX),
    // With none, which is the engine's choice, some C libraries search no domain at all.
    DnsOptions: ['ndots:1'],
  }
}

/** The lines of a resolver file that say the same as the engine's `daemon.json`; none where it says nothing of names. */
function readEngine(text: string): string[] {
  try {
    const { dns, 'dns-search': search } = EngineNames.parse(JSON.parse(text))
    return dns.length === 0
      ? []
      : [...dns.map((server) => `nameserver ${server}`), ...(search.length > 0 ? [`search ${search.join(' ')}`] : [])]
  } catch {
    return []
  }
}

function isReached(address: string): boolean {
  return isIPv4(address) && !address.startsWith('127.')
}
