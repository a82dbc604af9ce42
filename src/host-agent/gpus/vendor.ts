import type { MachineStats } from '../../host-protocol/stats.ts'
import type { ContainerSpec } from '../engine/engine.ts'
import type { GpuDevice } from './device.ts'
import type { DriverError, GpuReading } from './health.ts'

/** Use of one GPU, as reported to the plane. */
export type GpuUse = NonNullable<MachineStats['gpus']>[number]

/** The part of a container's specification that gives it GPUs. */
export interface GpuContainerConfig {
  /** Variables that override those of the user and of the image. */
  env: Readonly<Record<string, string>>
  hostConfig: Pick<NonNullable<ContainerSpec['HostConfig']>, 'DeviceRequests' | 'Devices' | 'GroupAdd'>
}

/** Flags of the operator that concern toolkits. */
export interface ToolkitOptions {
  allowOldNvidiaToolkit: boolean
}

/** Whether the engine can give GPUs to containers. */
export interface ToolkitVerdict {
  /** Whether containers may have GPUs. */
  offersGpus: boolean
  /** A problem, described for the operator; null: none. */
  missing: string | null
}

/** Reads the health of a vendor's GPUs, and remembers between two readings what the driver supports. */
export interface GpuHealth {
  /** Returns one reading for each GPU that the driver lists; undefined: the driver does not answer. */
  read(): Promise<GpuReading[] | undefined>
  /** Returns the hardware errors in a kernel log, each GPU and error once. Errors of the programs that use a GPU are left out. */
  findErrors(kernelLog: string): DriverError[]
}

/** A manufacturer of GPUs: how its devices are found, read and given to containers. */
export interface GpuVendor {
  /** A manufacturer of the catalog. */
  readonly name: string
  /** The program that reads its driver, as messages name it. */
  readonly tool: string
  /** Begins the ids of its GPUs; no two vendors have the same. */
  readonly idPrefix: string
  /** Returns the GPUs that the driver reports; none where `tool` is missing or fails (`onProblem` gets the reason of a failure). */
  detect(onProblem: (text: string) => void): Promise<GpuDevice[]>
  /** Judges the software that gives GPUs to containers (HOST-90). Called only where there are GPUs and a container engine. */
  judgeToolkit(options: ToolkitOptions): Promise<ToolkitVerdict>
  /** Returns the use of its GPUs by id. Throws when the driver does not answer. */
  use(): Promise<Map<string, GpuUse>>
  /** Opens the readings of one health watch (HOST-41). */
  health(): GpuHealth
  /** Gives a container these GPUs and no others (HOST-65); without any it sees none, whatever the engine's default runtime is. */
  containerConfig(uuids: readonly string[]): GpuContainerConfig
}
