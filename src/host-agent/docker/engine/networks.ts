import type Docker from 'dockerode'
import { statusOf } from '../../engine/engine-errors.ts'
import type { NetworkCalls } from '../../engine/networks.ts'

const MTU = 'com.docker.network.driver.mtu'

/** The network calls of the engine. */
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

/**
 * The MTU that the operator has set for the engine's own network. It is meant for all networks, but the engine applies it to that one only.
 */
async function ownMtu(docker: Docker): Promise<Record<string, string>> {
  const options: Record<string, string> = (await docker.getNetwork('bridge').inspect()).Options ?? {}
  return options[MTU] === undefined ? {} : { [MTU]: options[MTU] }
}
