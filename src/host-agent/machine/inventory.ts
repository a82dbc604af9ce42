import { statfsSync } from 'node:fs'
import { arch, cpus, release, totalmem, type } from 'node:os'
import { type GpuInventory, type Inventory, PROTOCOL_VERSION } from '../../host-protocol/messages.ts'
import { SIMULATED_PER_GPU } from '../gpus/simulated.ts'
import { AGENT_VERSION } from '../version.ts'

/** Capacity of this machine before simulated capacity is added. */
export interface Machine {
  os: string
  vcpus: number
  memoryMb: number
  diskGb: number
}

/** A small machine still offers the smallest size sold, two vCPUs with 4 GiB, so that the platform can be tried on any machine (HOST-6). */
const VCPUS_MIN = 2
const MEMORY_MB_MIN = 4 * 1024

/** Share of the machine's memory that is reserved for the kernel, the engine and the agent. */
const RESERVED_SHARE = 0.05
const RESERVED_MB = { min: 256, max: 8 * 1024 }

/** Memory that a machine with `totalMb` offers, MiB (HOST-93). */
export function offeredMemoryMb(totalMb: number): number {
  const reserved = Math.min(RESERVED_MB.max, Math.max(RESERVED_MB.min, Math.ceil(totalMb * RESERVED_SHARE)))
  return Math.max(MEMORY_MB_MIN, totalMb - reserved)
}

/** Reads the size of this machine. The disk is the free space of the agent's directory, in units of 10⁹ bytes. */
export function readMachine(stateDir: string): Machine {
  const disk = statfsSync(stateDir)
  return {
    os: `${type()} ${release()} ${arch()}`.slice(0, 128),
    vcpus: Math.max(VCPUS_MIN, cpus().length),
    memoryMb: offeredMemoryMb(Math.floor(totalmem() / 2 ** 20)),
    diskGb: Math.max(1, Math.floor((disk.bavail * disk.bsize) / 1e9)),
  }
}

/** The inventory for the plane: the machine, its GPUs, and simulated GPUs with their capacity. */
export function buildInventory(
  machine: Machine,
  gpus: readonly GpuInventory[],
  simulated: readonly GpuInventory[],
  runtimes: Inventory['runtimes'],
): Inventory {
  const count = simulated.reduce((sum, gpu) => sum + gpu.count, 0)
  return {
    agentVersion: AGENT_VERSION,
    protocolVersion: PROTOCOL_VERSION,
    os: machine.os,
    vcpus: machine.vcpus + count * SIMULATED_PER_GPU.vcpus,
    memoryMb: machine.memoryMb + count * SIMULATED_PER_GPU.memoryMb,
    diskGb: machine.diskGb + count * SIMULATED_PER_GPU.diskGb,
    gpus: [...gpus, ...simulated],
    runtimes,
    simulated: count > 0,
  }
}
