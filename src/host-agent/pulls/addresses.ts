import { BlockList, isIPv4, isIPv6 } from 'node:net'

// The IANA special-purpose registries, multicast and reserved space. 168.63.129.16 is a cloud's host agent on a public address; the other
// metadata services lie within these ranges.
const REFUSED_IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
/**
 * Only global unicast can be public. Addresses that contain an IPv4 address (mapped, NAT64, 6to4, Teredo) are outside of it or listed
 * below.
 */
const GLOBAL_IPV6 = '2000::/3'
const REFUSED_IPV6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

const refusedIpv4 = blockList(REFUSED_IPV4, 'ipv4')
const globalIpv6 = blockList(GLOBAL_IPV6, 'ipv6')
const refusedIpv6 = blockList(REFUSED_IPV6, 'ipv6')

/** Whether an address is on the public internet: not private, loopback, link-local, metadata, multicast or reserved. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedIpv4.check(address, 'ipv4')
  return isIPv6(address) && globalIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6')
}

function blockList(ranges: string, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges.split(' ')) {
    const [network = '', prefix] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
