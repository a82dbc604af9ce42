import { statfsSync } from 'node:fs'
import { cpus, freemem, totalmem } from 'node:os'
import type { MachineStats } from '../../host-protocol/stats.ts'
import { readTextFile } from '../../node/text-file.ts'
import type { Traffic } from '../runtime.ts'
import { ratesOf } from '../workloads/stats.ts'

/** Interfaces of containers and bridges: their traffic passes one of the machine's own interfaces too, or stays on the machine. */
const INNER = /^(lo|veth|docker|br-|virbr|vxlan|ppx|cni|flannel|wg|tun|tap)/
/** Whole disks; partitions, mapped and loop devices would count the same bytes again. */
const WHOLE_DISK = /^(sd[a-z]+|vd[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/
const SECTOR_BYTES = 512

interface Previous {
  times: { busy: number; total: number }
  traffic: Traffic
  atMs: number
}

/**
 * Returns a reader of this machine's resource use, GPUs excluded; CPU and traffic are averages since the previous reading. `path` is on the
 * disk of the workloads.
 */
export function createMachineReader(path: string, now: () => number): () => MachineStats {
  let previous = readCounters(now())
  return () => {
    const current = readCounters(now())
    const total = current.times.total - previous.times.total
    const cpu = total > 0 ? { cpu: Math.min(100, Math.max(0, Math.round((100 * (current.times.busy - previous.times.busy)) / total))) } : {}
    const rates = ratesOf(previous.traffic, current.traffic, (current.atMs - previous.atMs) / 1000)
    previous = current
    return { ...cpu, memoryBytes: Math.max(0, totalmem() - freemem()), memoryLimitBytes: totalmem(), ...diskUse(path), ...rates }
  }
}

function readCounters(atMs: number): Previous {
  return {
    times: cpuTimes(),
    traffic: { ...parseNetworks(readTextFile('/proc/net/dev')), ...parseDisks(readTextFile('/proc/diskstats')) },
    atMs,
  }
}

function cpuTimes(): { busy: number; total: number } {
  const times = cpus().map((cpu) => cpu.times)
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { total, busy: total - times.reduce((sum, { idle }) => sum + idle, 0) }
}

function diskUse(path: string): Pick<MachineStats, 'diskBytes' | 'diskLimitBytes'> {
  try {
    const { blocks, bfree, bsize } = statfsSync(path)
    return { diskBytes: (blocks - bfree) * bsize, diskLimitBytes: blocks * bsize }
  } catch {
    return {}
  }
}

/** Totals of `/proc/net/dev` over the machine's own interfaces; empty without such a file. */
export function parseNetworks(text: string | undefined): Pick<Traffic, 'received' | 'sent'> {
  if (text === undefined) return {}
  const total = { received: 0, sent: 0 }
  for (const line of text.split('\n')) {
    const [, name = 'lo', figures = ''] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? []
    const cells = figures.trim().split(/\s+/).map(Number)
    if (INNER.test(name) || cells.length < 9) continue
    total.received += cells[0] ?? 0
    total.sent += cells[8] ?? 0
  }
  return total
}

/** Totals of `/proc/diskstats` over whole disks. */
export function parseDisks(text: string | undefined): Pick<Traffic, 'read' | 'written'> {
  if (text === undefined) return {}
  const total = { read: 0, written: 0 }
  for (const line of text.split('\n')) {
    const cells = line.trim().split(/\s+/)
    if (!WHOLE_DISK.test(cells[2] ?? '')) continue
    total.read += Number(cells[5] ?? 0) * SECTOR_BYTES
    total.written += Number(cells[9] ?? 0) * SECTOR_BYTES
  }
  return total
}
