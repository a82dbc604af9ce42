import { isIPv4 } from 'node:net'
import { z } from 'zod'
import { parseJson } from '../../../node/json-file.ts'
import { readTextFile } from '../../../node/text-file.ts'
import { NAME_SERVER } from './rules.ts'

/** Resolver files of this machine. With systemd-resolved the first file names a local stub only, and the second the servers behind it. */
const RESOLVER_FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']

/** Returns the contents of the resolver files of this machine; a missing one is empty. */
export function readResolverFiles(): string[] {
  return RESOLVER_FILES.map((path) => readTextFile(path) ?? '')
}

/**
 * IPv4 name servers of resolver files, in the order of the files. Those on loopback are left out: the engine queries them itself, from the
 * host.
 */
export function parseNameServers(texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split('\n'))
  const named = lines.flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
  return [...new Set(named.filter(isReached))]
}

/** Configuration of an engine on this machine, which may name other name servers. */
export const ENGINE_FILE = '/etc/docker/daemon.json'
const EngineNames = z.object({ dns: z.array(z.string()), 'dns-search': z.array(z.string()) }).partial()

/** Name server settings for containers of private networks. */
export interface ContainerResolvers {
  Dns: string[]
  DnsSearch: string[]
  DnsOptions: string[]
}

/** The engine uses no more. */
const SERVERS_MAX = 3
/** C libraries read no more. */
const SEARCH_MAX = 6

/**
 * Settings of a container that queries the agent first, and the machine's name servers for names that the agent refuses (NET-72); `domain`
 * is searched first. Parameter `engineText`, the engine's own configuration, takes precedence over the files of the machine. Undefined where no
 * name server has an IPv4 address outside loopback: the engine queries those on loopback from the host, but not for containers with their
 * own settings. Pure.
 */
export function containerResolvers(domain: string, files: readonly string[], engineText = ''): ContainerResolvers | undefined {
  const engine = readEngine(engineText)
  const texts = engine.length > 0 ? [engine.join('\n')] : files
  const servers = parseNameServers(texts)
  const lines = texts.flatMap((text) => text.split('\n'))
  if (servers.length === 0 && lines.some((line) => /^\s*nameserver\s/.test(line))) return undefined
  const searched = lines.findLast((line) => /^\s*search\s/.test(line)) ?? ''
  const own = searched.trim().split(/\s+/).slice(1)
  return {
    Dns: [NAME_SERVER, ...servers].slice(0, SERVERS_MAX),
    DnsSearch: [...new Set([domain, ...own.filter((name) => /^[A-Za-z0-9._-]+$/.test(name))])].slice(0, SEARCH_MAX),
    // With no options, the engine's default, some C libraries search no domain at all.
    DnsOptions: ['ndots:1'],
  }
}

/** Lines of a resolver file equivalent to the engine's `daemon.json`; empty where that names no servers. */
function readEngine(text: string): string[] {
  const { dns = [], 'dns-search': search = [] } = EngineNames.safeParse(parseJson(text)).data ?? {}
  if (dns.length === 0) return []
  return [...dns.map((server) => `nameserver ${server}`), ...(search.length > 0 ? [`search ${search.join(' ')}`] : [])]
}

function isReached(address: string): boolean {
  return isIPv4(address) && !address.startsWith('127.')
}
