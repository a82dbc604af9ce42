import type Docker from 'dockerode'
import { statusOf } from '../docker/engine/engine-errors.ts'

/** A network of the engine. */
export interface EngineNetwork {
  name: string
  labels: Record<string, string>
  subnets: string[]
}

export interface NewNetwork {
  name: string
  /** The machine's interface for it. */
  bridge: string
  subnet: string
  labels: Record<string, string>
}

export interface NetworkCalls {
  /** Networks with this label, `<name>=<value>`. */
  listNetworks(label: string): Promise<EngineNetwork[]>
  /** Its containers do not see one another and have no IPv6 address. */
  createNetwork(network: NewNetwork): Promise<void>
  /** False: containers run in it, so it stays. */
  removeNetwork(name: string): Promise<boolean>
}

const MTU = 'com.docker.network.driver.mtu'

/** The calls of the engine that are about networks. */
export function networkCalls(docker: Docker): NetworkCalls {
  return {
    listNetworks: async (label) => {
      const found = await docker.listNetworks({ filters: { label: [label] } })
      return found.map(({ Name, Labels, IPAM }) => ({
        name: Name,
        labels: Labels ?? {},
        subnets: (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []),
      }))
    },
    createNetwork: async ({ name, bridge, subnet, labels }) => {
      await docker.createNetwork({
        Name: name,
        CheckDuplicate: true,
        Driver: 'bridge',
        EnableIPv6: false,
        IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] },
        Labels: labels,
        Options: {
          'com.docker.network.bridge.name': bridge,
          'com.docker.network.bridge.enable_icc': 'false',
          ...(await ownMtu(docker)),
        },
      })
    },
    removeNetwork: async (name) => {
      try {
        await docker.getNetwork(name).remove()
        return true
      } catch (error) {
        const status = statusOf(error)
        if (status !== 403 && status !== 404) throw error
        return status === 404
      }
    },
  }
}

/** What the operator has set for the engine's own network holds for others too, but the engine does not hand it on. */
async function ownMtu(docker: Docker): Promise<Record<string, string>> {
  const options: Record<string, string> = (await docker.getNetwork('bridge').inspect()).Options ?? {}
  return options[MTU] === undefined ? {} : { [MTU]: options[MTU] }
}
