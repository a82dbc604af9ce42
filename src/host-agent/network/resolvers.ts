import { isIPv4 } from 'node:net'

/** Where this machine asks for names. With systemd-resolved the first file names a stub only, and the second one who is behind it. */
export const RESOLVER_FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']

/** IPv4 name servers of resolver files. Those on loopback are left out: the engine itself asks them, from the host. */
export function parseNameServers(texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split('\n'))
  const named = lines.flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
  return [...new Set(named.filter((address) => isIPv4(address) && !address.startsWith('127.')))].toSorted()
}
