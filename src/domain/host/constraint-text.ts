import type { UnfitHost } from './placement.ts'

const MB_PER_GB = 1024
const SEPARATOR = ': '
const COMPARISON = ' > '

/**
 * A failed constraint, `<constraint>: <wanted> > <available>`, as text for a tenant: it names only the need (WHY-21). The free capacity and
 * the data center of a host are for its operator, and would reveal the load of other tenants.
 */
export function describeConstraint(failed: string): string {
  const [name = '', rest = ''] = split(failed, SEPARATOR)
  const [wanted] = split(rest, COMPARISON)
  const [kind = '', ...type] = name.split(' ')
  return TEXTS[kind]?.(wanted, type.join(' ')) ?? name
}

/** Each constraint with the number of hosts on which it failed as text, the most frequent first, at most `limit`. */
export function countConstraints(unfit: readonly UnfitHost[], limit: number): string[] {
  return failedConstraints(unfit, limit).map(([text, count]) => `${text}: fails on ${count} of ${unfit.length} hosts`)
}

/** Each constraint and the number of hosts on which it failed, the most frequent first, at most `limit`. */
export function failedConstraints(unfit: readonly UnfitHost[], limit: number): [text: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { failed } of unfit) {
    for (const text of new Set(failed.map(describeConstraint))) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, limit)
}

const TEXTS: Readonly<Record<string, (wanted: string, type: string) => string>> = {
  status: () => 'needs a host that is online',
  schedulable: () => 'needs a host that is not cordoned',
  disk: () => 'needs a host whose disk is not full',
  runtime: (wanted) => (wanted === 'docker' ? 'needs a container engine' : 'needs an agent that runs built-in images'),
  isolation: () => 'needs a host that isolates accounts, or one that no other account uses',
  runtimeClass: (wanted) => `needs a container in ${wanted}, which the operator requires of this account`,
  dataCenter: (wanted) => `needs data center ${wanted.replaceAll('|', ' or ')}`,
  cloud: (wanted) => `needs ${wanted} hardware`,
  compute: () => 'needs a compute type that the operator offers',
  vcpu: (wanted) => `needs ${wanted} free vCPUs`,
  vcpuPerGpu: (wanted) => `needs ${wanted} vCPUs for each GPU`,
  memoryMb: (wanted) => `needs ${inGb(wanted)} GB of free memory`,
  memoryMbPerGpu: (wanted) => `needs ${inGb(wanted)} GB of memory for each GPU`,
  diskGb: (wanted) => `needs ${wanted} GB of free disk`,
  diskShare: (wanted) => `needs ${wanted} GB of disk, above the share of this account's pods (including stopped ones) on the host`,
  gpu: (wanted, type) => `needs ${wanted} free ${type}`,
  cuda: (wanted) => `needs CUDA ${wanted.replaceAll('|', ' or ')}`,
  networkVolumes: () => 'needs a host with network volumes',
  globalVolumes: () => 'needs a host with global volumes',
  overlay: () => 'needs a host with the private network between hosts',
  capacity: () => 'needs capacity that another request has just taken',
}

function inGb(megabytes: string): string {
  return String(Math.ceil((Number(megabytes) / MB_PER_GB) * 10) / 10)
}

function split(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}
