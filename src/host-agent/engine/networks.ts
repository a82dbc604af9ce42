import { z } from 'zod'

/** A network in the engine. */
export const EngineNetwork = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), subnets: z.array(z.string()) })
export type EngineNetwork = z.infer<typeof EngineNetwork>

/** A network of the engine to create. */
export interface NewNetwork {
  name: string
  /** Name of the machine's interface for it. */
  bridge: string
  subnet: string
  labels: Record<string, string>
}

/** The engine's calls for networks. */
export interface NetworkCalls {
  /** Networks with this label, `<name>=<value>`. */
  listNetworks(label: string): Promise<EngineNetwork[]>
  /** Creates a network whose containers are isolated from one another and have no IPv6 address. */
  createNetwork(network: NewNetwork): Promise<void>
  /** Removes a network. False: containers run in it, so it stays. */
  removeNetwork(name: string): Promise<boolean>
}
